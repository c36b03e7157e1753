import type { ReactElement } from 'react'
import type { Destination } from '../../../data/lists.ts'
import { Ago } from '../../../parts/ago.tsx'
import { counted } from '../../../parts/text-list.ts'
import { Button } from '../../../ui/button.tsx'
import { Countdown } from '../../../ui/time.tsx'

/** Why nothing is sent to it at the moment, what happens by itself, and what a person can do; nothing when all is well. */
export function Standing({
  destination: { enabled, disabled_reason, disabled_at, breaker },
  onRecover,
}: {
  readonly destination: Destination
  readonly onRecover: () => void
}): ReactElement | null {
  const { state, next_probe_at, failures_in_row, failing_since } = breaker
  if (!enabled && disabled_reason !== 'by_hand') {
    return (
      <div role="status" className="flex items-center gap-3 border-t border-line bg-fail-soft px-5 py-2 text-fail">
        <p className="flex-1">
          {disabled_reason === 'gone' ? 'The receiver answered 410 Gone' : 'Nothing succeeded here for 120 hours'},
          which switched it off
          {disabled_at !== null && (
            <>
              {' '}
              <Ago at={disabled_at} />
            </>
          )}
          . What waits is sent when it is switched on.
        </p>
        <Button onClick={onRecover}>Recover…</Button>
      </div>
    )
  }
  if (!enabled || state === 'closed') return null
  if (state === 'recovering')
    return (
      <p role="status" className="border-t border-line bg-retry-soft px-5 py-2 text-retry-text">
        It answers again: more is let through with each success.
      </p>
    )
  return (
    <p role="status" className="border-t border-line bg-fail-soft px-5 py-2 text-fail">
      Its breaker is open after {counted(failures_in_row, 'failure')} in a row
      {failing_since !== null && (
        <>
          , the first <Ago at={failing_since} />
        </>
      )}
      . What waits uses up no attempt; one delivery is tried{' '}
      {next_probe_at === null || state === 'half_open' ? 'now' : <Countdown to={next_probe_at} />}.
    </p>
  )
}
