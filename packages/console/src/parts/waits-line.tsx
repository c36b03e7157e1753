import { holdText } from '@postroad/contract/holds'
import type { ReactElement } from 'react'
import { To } from '../data/go.tsx'
import type { Delivery } from '../data/tail.ts'
import { momentText } from '../ui/moments.ts'
import { Countdown } from '../ui/time.tsx'
import { errorText, NextProbe } from './held.tsx'
import { ProbeNow } from './probe-now.tsx'
import { counted } from './text-list.ts'

type Props = {
  readonly delivery: Pick<Delivery, 'state' | 'attempt_count' | 'destination_id' | 'next_attempt_at' | 'held_by'>
}

/** Why a delivery waits: for its next attempt, or because it is held back. A failed delivery no longer waits. */
export function WaitsLine({ delivery }: Props): ReactElement | null {
  const { state, attempt_count, next_attempt_at, held_by } = delivery
  if (held_by !== null) return <HeldLine held={held_by} delivery={delivery} />
  if (state === 'failed' && attempt_count > 0)
    return (
      <p className="border-b border-line bg-fail-soft px-5 py-2 text-fail">
        Gave up after {counted(attempt_count, 'attempt')}.
      </p>
    )
  return state !== 'retrying' || next_attempt_at === null ? null : (
    <p className="border-b border-line bg-retry-soft px-5 py-2 text-retry-text">
      Next attempt <Countdown to={next_attempt_at} />
    </p>
  )
}

function HeldLine({
  held,
  delivery: { destination_id },
}: Props & { readonly held: NonNullable<Delivery['held_by']> }): ReactElement {
  const { cause, since, next_probe_at, behind } = held
  const error = errorText(held)
  const isOpen = cause === 'breaker_open'
  return (
    <div
      role="status"
      className={`flex items-center gap-3 border-b border-line px-5 py-2 ${isOpen || cause === 'destination_disabled' ? 'bg-fail-soft text-fail' : 'bg-retry-soft text-retry-text'}`}
    >
      <p className="min-w-0 flex-1">
        Held back by{' '}
        <To screen="destinations" search={{ sel: destination_id }} className="underline">
          its destination
        </To>
        : {holdText(held)}
        {since !== null && (
          <>
            , since <time dateTime={since}>{momentText(since)}</time>
          </>
        )}
        .{error !== undefined && ` The last attempt there failed: ${error}.`}
        {isOpen && (
          <>
            {' '}
            Postroad sends the next probe <NextProbe at={next_probe_at} />.
          </>
        )}
        {behind !== null && (
          <>
            {' '}
            Waiting for{' '}
            <To screen="deliveries" search={{ sel: behind }} className="underline">
              an earlier delivery
            </To>
            .
          </>
        )}
      </p>
      {isOpen && <ProbeNow destinationId={destination_id} />}
    </div>
  )
}
