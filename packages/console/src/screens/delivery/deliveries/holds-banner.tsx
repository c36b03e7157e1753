import { holdText, isOff } from '@postroad/contract/holds'
import { clsx } from 'clsx'
import type { ReactElement } from 'react'
import { To } from '../../../data/go.tsx'
import { useHolds, type DeliveryHold } from '../../../data/holds.ts'
import { errorText, NextProbe } from '../../../parts/held.tsx'
import { ProbeNow } from '../../../parts/probe-now.tsx'
import { counted } from '../../../parts/text-list.ts'
import { Glyph } from '../../../ui/glyph.tsx'
import { span, useNow } from '../../../ui/time.tsx'

/** A moving queue is in the banner only after it has waited for this long. */
const QUEUE_MS = 60_000
const QUEUES: ReadonlySet<string> = new Set(['rate_limit', 'in_flight', 'order'])
const SHOWN_MAX = 3

/**
 * The destinations that have held back deliveries: how many, for how long, and why. A list that is filtered by one
 * destination shows only the line of that destination.
 */
export function HoldsBanner({ destination }: { readonly destination: string | undefined }): ReactElement | null {
  const asked = useHolds().data
  const now = useNow(10_000)
  if (asked === undefined) return null
  const holds = asked.holds.filter(
    ({ destination_id, cause, since }) =>
      (destination === undefined || destination === '' || destination === destination_id) &&
      (!QUEUES.has(cause) || (since !== null && now - Date.parse(since) >= QUEUE_MS)),
  )
  if (holds.length === 0) return null
  const more = holds.length - SHOWN_MAX
  return (
    <ul aria-label="Destinations that are holding deliveries back" className="border-b border-line">
      {holds.slice(0, SHOWN_MAX).map((hold) => (
        <HoldLine key={hold.destination_id} hold={hold} now={now} />
      ))}
      {more > 0 && (
        <li className="bg-sunken px-[18px] py-1.5 text-ink-2">
          {asked.truncated ? 'At least ' : ''}
          {more === 1 ? '1 more destination has' : `${more.toLocaleString('en')} more destinations have`} waiting
          deliveries.
        </li>
      )}
    </ul>
  )
}

const COLORS = { fail: 'bg-fail-soft', retry: 'bg-retry-soft', paused: 'bg-sunken' } as const

function toneOf(cause: DeliveryHold['cause']): keyof typeof COLORS {
  if (cause === 'destination_off') return 'paused'
  return cause === 'breaker_open' || cause === 'destination_disabled' ? 'fail' : 'retry'
}

function HoldLine({ hold, now }: { readonly hold: DeliveryHold; readonly now: number }): ReactElement {
  const { destination_id, name, cause, deliveries, more, since, next_probe_at } = hold
  const isOpen = cause === 'breaker_open'
  const tone = toneOf(cause)
  const error = errorText(hold)
  return (
    <li className={clsx('flex min-h-9 flex-wrap items-center gap-x-2.5 px-[18px] py-1', COLORS[tone])}>
      <Glyph tone={tone} label="" />
      <p className="min-w-0 flex-1 text-ink-2">
        {counted(deliveries, 'delivery', 'deliveries')}
        {more && ' or more'} to{' '}
        <To
          screen="deliveries"
          search={{ destination: destination_id, state: 'held' }}
          className="font-strong text-ink underline"
        >
          {name}
        </To>{' '}
        held back{since !== null && ` for ${span(now - Date.parse(since))}`}: {holdText(hold)}
        {error !== undefined && `, last response ${error}`}
        {isOpen && (
          <>
            , next probe <NextProbe at={next_probe_at} />
          </>
        )}
        .
      </p>
      {isOpen && <ProbeNow destinationId={destination_id} name={name} />}
      {isOff(hold) && (
        <To
          screen="destinations"
          search={{ sel: destination_id }}
          className="inline-flex min-h-6 items-center text-ink underline"
        >
          Open destination
        </To>
      )}
    </li>
  )
}
