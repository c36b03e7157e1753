import { holdText } from '@postroad/contract/holds'
import type { ReactElement } from 'react'
import { To } from '../../../data/go.tsx'
import { useHolds, type DeliveryHold } from '../../../data/holds.ts'
import { Ago } from '../../../ui/ago.tsx'
import { errorText, NextProbe } from '../../../parts/held.tsx'
import { ProbeNow } from '../../../parts/probe-now.tsx'
import { counted } from '../../../parts/text-list.ts'
import { Glyph } from '../../../ui/glyph.tsx'
import { useNow } from '../../../ui/time.tsx'

/** A moving queue is in the banner only after it has waited for this long. */
const QUEUE_MS = 60_000
const QUEUES: ReadonlySet<string> = new Set(['rate_limit', 'in_flight', 'order'])
const SHOWN_MAX = 3

/** The destinations that hold deliveries back: which, how many, since when, and why. */
export function HoldsBanner(): ReactElement | null {
  const asked = useHolds().data
  const now = useNow(10_000)
  if (asked === undefined) return null
  const holds = asked.holds.filter(
    ({ cause, since }) => !QUEUES.has(cause) || (since !== null && now - Date.parse(since) >= QUEUE_MS),
  )
  if (holds.length === 0) return null
  const more = holds.length - SHOWN_MAX
  return (
    <ul aria-label="Destinations that are holding deliveries back" className="border-b border-line bg-fail-soft">
      {holds.slice(0, SHOWN_MAX).map((hold) => (
        <HoldLine key={hold.destination_id} hold={hold} />
      ))}
      {more > 0 && (
        <li className="px-[18px] pb-1.5 text-ink-2">
          {counted(more, 'more destination')}
          {asked.truncated ? ' at least' : ''} {more === 1 ? 'holds' : 'hold'} deliveries back.
        </li>
      )}
    </ul>
  )
}

function HoldLine({ hold }: { readonly hold: DeliveryHold }): ReactElement {
  const { destination_id, name, cause, deliveries, more, since, next_probe_at } = hold
  const isOpen = cause === 'breaker_open'
  const error = errorText(hold)
  return (
    <li className="flex min-h-9 items-center gap-2.5 px-[18px] py-1">
      <Glyph tone={isOpen || cause === 'destination_disabled' ? 'fail' : 'retry'} label="" />
      <p className="min-w-0 flex-1 text-ink-2">
        <To
          screen="deliveries"
          search={{ destination: destination_id, state: 'held' }}
          className="font-strong text-ink underline"
        >
          {name}
        </To>{' '}
        holds {counted(deliveries, 'delivery', 'deliveries')}
        {more ? ' or more' : ''} back
        {since !== null && (
          <>
            , since <Ago at={since} />
          </>
        )}
        : {holdText(hold)}
        {error !== undefined && `, last answer ${error}`}
        {isOpen && (
          <>
            , next probe <NextProbe at={next_probe_at} />
          </>
        )}
        .
      </p>
      {isOpen && <ProbeNow destinationId={destination_id} name={name} />}
    </li>
  )
}
