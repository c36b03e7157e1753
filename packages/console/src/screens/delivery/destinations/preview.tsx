import type { RouteAnswer, RouteRequest, Routes } from '@postroad/contract'
import { useState, type ReactElement } from 'react'
import { useAsk } from '../../../data/ask.ts'
import { useSettled } from '../../../parts/settled.ts'
import { HeaderList, indented } from '../../../ui/attempt.tsx'
import { RefusedLine } from '../../../ui/states.tsx'
import { BodyNote } from '../../../parts/body-note.tsx'
import { RecordSelect, useReceivedRecords, type Receiver } from './record-select.tsx'

type Shown = NonNullable<RouteAnswer<Routes['destinationPreviews']['make']>['request']>
type Settings = Omit<RouteRequest<Routes['destinationPreviews']['make']>, 'record_id'>

/** The request for a real record with these settings, saved or not; `undefined` while the settings are not valid. */
export function Preview({
  receiver,
  settings,
}: {
  readonly receiver: Receiver
  readonly settings: Settings | undefined
}): ReactElement {
  const records = useReceivedRecords(receiver)
  const [chosen, setChosen] = useState<string | undefined>()
  const recordId = chosen ?? records.data?.[0]?.id
  const asks = useSettled(settings === undefined ? '' : JSON.stringify(settings))
  const asked = useAsk(
    ['destinationPreviews', recordId, asks],
    (client, signal) =>
      client.destinationPreviews.make({ record_id: recordId ?? '', ...readSettings(asks) }, { signal }),
    { enabled: recordId !== undefined && asks !== '', keep: true },
  )
  if (records.error !== null) return <RefusedLine error={records.error} />
  if (records.data !== undefined && recordId === undefined)
    return (
      <p className="text-ink-3">
        No event has matched this destination yet. Send a matching event to see its body here.
      </p>
    )
  if (recordId === undefined)
    return (
      <p role="status" className="text-ink-3">
        Looking for a record…
      </p>
    )
  const { request, error } = asked.data ?? { request: undefined, error: null }
  return (
    <>
      <RecordSelect label="Preview event" at={recordId} go={setChosen} receiver={receiver} />
      {settings === undefined && <p className="text-ink-3">The preview appears when the settings are valid.</p>}
      {settings !== undefined && <RefusedLine error={asked.error} />}
      {asked.error === null && error !== null && (
        <p role="alert" className="rounded-field bg-fail-soft px-3 py-2 text-fail">
          {error}
        </p>
      )}
      {asked.error === null && settings !== undefined && request !== undefined && request !== null && (
        <div aria-busy={asked.isPlaceholderData}>
          <Request of={request} />
        </div>
      )}
    </>
  )
}

function Request({ of: request }: { readonly of: Shown }): ReactElement {
  return (
    <>
      <pre
        tabIndex={0}
        aria-label="Body preview"
        className="mono max-h-80 overflow-auto rounded-field bg-surface p-3 text-data break-all whitespace-pre-wrap"
      >
        {request.body_base64 === null ? indented(request.body) : request.body_base64}
      </pre>
      {request.body_base64 !== null && (
        <p className="mt-1 text-ink-3">The body is not text, so it is shown in base64.</p>
      )}
      <BodyNote of={request} />
      <details className="mt-2">
        <summary className="flex h-8 cursor-default items-center text-ink-2">
          {Object.keys(request.headers).length} headers (dots replace secrets)
        </summary>
        <HeaderList of={request.headers} />
      </details>
    </>
  )
}

function readSettings(text: string): Settings {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the text was written from settings
  return JSON.parse(text) as Settings
}
