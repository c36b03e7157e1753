import type { ReactElement } from 'react'
import { useAsk } from '../data/ask.ts'
import { To } from '../data/go.tsx'
import type { Delivery } from '../data/tail.ts'
import { Countdown } from '../ui/time.tsx'

type Props = { readonly delivery: Pick<Delivery, 'state' | 'destination_id' | 'next_attempt_at'> }

const LIVE_MS = 5_000

/** What a delivery waits for that has not ended: its next attempt, or its destination, when the breaker of that is open. */
export function WaitsLine({ delivery: { state, destination_id, next_attempt_at } }: Props): ReactElement | null {
  const waits = state === 'pending' || state === 'retrying'
  const asked = useAsk(
    ['destinations', 'get', destination_id],
    (client, signal) => client.destinations.get({ id: destination_id }, { signal }),
    { enabled: waits, everyMs: LIVE_MS },
  )
  if (!waits) return null
  const { state: breaker, next_probe_at = null } = asked.data?.destination.breaker ?? {}
  const due = state === 'retrying' ? next_attempt_at : null
  if (breaker !== 'open' && breaker !== 'half_open')
    return due === null ? null : (
      <p className="border-b border-line bg-retry-soft px-5 py-2 text-retry-text">
        Next attempt <Countdown to={due} />
      </p>
    )
  const isDueLater = due !== null && next_probe_at !== null && due > next_probe_at
  return (
    <p role="status" className="border-b border-line bg-fail-soft px-5 py-2 text-fail">
      Waits for{' '}
      <To screen="destinations" search={{ sel: destination_id }} className="underline">
        its destination
      </To>
      : the breaker is open, and one delivery is tried{' '}
      {next_probe_at === null || breaker === 'half_open' ? 'now' : <Countdown to={next_probe_at} />}.
      {isDueLater && (
        <>
          {' '}
          Its own next attempt is due <Countdown to={due} />.
        </>
      )}
    </p>
  )
}
