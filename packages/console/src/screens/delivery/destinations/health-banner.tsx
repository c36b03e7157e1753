import { routes } from '@postroad/contract'
import type { ReactElement } from 'react'
import type { Destination } from '../../../data/lists.ts'
import { useRefusal } from '../../../data/place.ts'
import { Ago } from '../../../ui/ago.tsx'
import { counted } from '../../../parts/text-list.ts'
import { Button } from '../../../ui/button.tsx'
import { errorText, NextProbe } from '../../../parts/held.tsx'
import { ProbeNow } from '../../../parts/probe-now.tsx'

/** The reason why nothing is sent to a destination, the next automatic step, and the actions of a person. Absent when all is well. */
export function HealthBanner({
  destination: { id, enabled, disabled_reason, disabled_at, breaker },
  onRecover,
}: {
  readonly destination: Destination
  readonly onRecover: () => void
}): ReactElement | null {
  const refusal = useRefusal(routes.destinations.recover)
  const { state, next_probe_at, failures_in_row, failing_since } = breaker
  if (!enabled && disabled_reason !== 'by_hand') {
    return (
      <div role="status" className="flex items-center gap-3 border-t border-line bg-fail-soft px-5 py-2 text-fail">
        <p className="flex-1">
          {disabled_reason === 'gone' ? 'The receiver returned 410 Gone' : 'Nothing succeeded here for 120 hours'}, so
          Postroad turned this destination off
          {disabled_at !== null && (
            <>
              {' '}
              <Ago at={disabled_at} />
            </>
          )}
          . Postroad sends the waiting deliveries when you turn it on.
        </p>
        <Button disabled={refusal !== undefined} title={refusal} onClick={onRecover}>
          Recover…
        </Button>
      </div>
    )
  }
  const error = errorText(breaker)
  if (!enabled || state === 'closed') return null
  if (state === 'recovering')
    return (
      <p role="status" className="border-t border-line bg-retry-soft px-5 py-2 text-retry-text">
        The receiver responds again. Postroad sends more requests after each success.
      </p>
    )
  return (
    <div role="status" className="flex items-center gap-3 border-t border-line bg-fail-soft px-5 py-2 text-fail">
      <p className="flex-1">
        The circuit breaker is open after {counted(failures_in_row, 'failure')} in a row
        {failing_since !== null && (
          <>
            , the first <Ago at={failing_since} />
          </>
        )}
        .{error !== undefined && ` The last attempt failed: ${error}.`} Waiting deliveries don’t use up attempts.
        Postroad sends the next probe <NextProbe at={state === 'half_open' ? null : next_probe_at} />.
      </p>
      {state === 'open' && <ProbeNow destinationId={id} />}
    </div>
  )
}
