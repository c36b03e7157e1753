import type { RouteAnswer, Routes } from '@postroad/contract'
import { useState, type ReactElement } from 'react'
import { useChange } from '../../../data/ask.ts'
import type { Destination } from '../../../data/lists.ts'
import { HeaderList } from '../../../ui/attempt.tsx'
import { Button } from '../../../ui/button.tsx'
import { Dialog } from '../../../ui/dialog.tsx'
import { Chip } from '../../../ui/glyph.tsx'
import { RefusedLine } from '../../../ui/states.tsx'
import { took } from '../../../ui/time.tsx'
import { RecordSelect } from './record-select.tsx'

type Attempt = RouteAnswer<Routes['destinations']['test']>['attempt']

/** Sends a test event now and shows the response. It is not a delivery: nothing is stored, retried or counted. */
export function TestDialog({
  destination,
  onClose,
}: {
  readonly destination: Destination
  readonly onClose: () => void
}): ReactElement {
  const { id, name } = destination
  const [recordId, setRecordId] = useState('')
  const test = useChange(['destinations', 'deliveries', 'correlate'], (client) =>
    client.destinations.test({ id, ...(recordId === '' ? {} : { record_id: recordId }) }),
  )
  return (
    <Dialog
      open
      wide
      onClose={onClose}
      title={`Test ${name}`}
      lead="Postroad signs the test event and sends it like a delivery, but does not store it. A successful test closes an open circuit breaker."
      actions={
        <>
          <Button onClick={onClose}>Close</Button>
          <Button kind="primary" disabled={test.isPending} onClick={() => test.mutate(undefined)}>
            {test.data === undefined ? 'Send test' : 'Send again'}
          </Button>
        </>
      }
    >
      <RecordSelect label="Event" at={recordId} go={setRecordId} receiver={destination} sample="Sample event" />
      {test.isPending && (
        <p role="status" className="text-ink-3">
          Waiting for the response…
        </p>
      )}
      <RefusedLine error={test.error} />
      {!test.isPending && test.data !== undefined && (
        <>
          {test.data.closed_breaker && (
            <p role="status" className="mb-2 text-ok-text">
              The test closed the circuit breaker. Postroad now sends the waiting deliveries.
            </p>
          )}
          <Answer attempt={test.data.attempt} />
        </>
      )}
    </Dialog>
  )
}

function Answer({
  attempt: {
    outcome,
    response_status,
    response_headers,
    response_body,
    response_truncated,
    error_code,
    error_detail,
    duration_ms,
  },
}: {
  readonly attempt: Attempt
}): ReactElement {
  return (
    <div role="status" className="rounded-field border border-line">
      <div className="flex min-h-10 items-center gap-3 px-3.5">
        <Chip tone={outcome === 'succeeded' ? 'ok' : 'fail'}>
          {outcome === 'succeeded' ? 'The test succeeded' : 'The test failed'}
        </Chip>
        <b className={`mono font-control ${outcome === 'succeeded' ? 'text-ok-text' : 'text-fail'}`}>
          {response_status ?? error_code?.replaceAll('_', ' ')}
        </b>
        <span className="mono ml-auto text-meta text-ink-3">{duration_ms === null ? '' : took(duration_ms)}</span>
      </div>
      {error_detail !== null && (
        <p className={`px-3.5 pb-2 ${outcome === 'succeeded' ? 'text-ink-3' : 'text-fail'}`}>{error_detail}</p>
      )}
      {response_headers !== null && (
        <div className="border-t border-line px-3.5 py-2">
          <HeaderList of={response_headers} />
        </div>
      )}
      {response_body !== null && (
        <div className="border-t border-line px-3.5 py-2">
          {response_body === '' ? (
            <p className="text-data text-ink-3">The response had no body.</p>
          ) : (
            <pre
              tabIndex={0}
              aria-label="Response body"
              className="mono max-h-52 overflow-auto text-data break-all whitespace-pre-wrap"
            >
              {response_body}
            </pre>
          )}
          {response_truncated === true && (
            <p className="mt-1 text-data text-ink-3">Only the first 16 KiB of the response are shown.</p>
          )}
        </div>
      )}
    </div>
  )
}
