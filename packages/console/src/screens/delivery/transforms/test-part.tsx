import type { RouteAnswer, Routes, TransformLanguage } from '@postroad/contract'
import { useState, type ReactElement } from 'react'
import { useChange } from '../../../data/ask.ts'
import { JsonDiff } from '../../../parts/json-diff.tsx'
import { RecordChoice, useNewestRecords } from '../../../parts/record-choice.tsx'
import { Button } from '../../../ui/button.tsx'
import { JsonField } from '../../../ui/json-field.tsx'
import { RefusedLine } from '../../../ui/states.tsx'

type Tested = RouteAnswer<Routes['transforms']['test']>
type Asked = { readonly code: string; readonly language: TransformLanguage } & (
  | { readonly record_id: string }
  | { readonly payload: unknown }
)

const OWN = ''

/** Runs the code on a past event, or on another payload, and shows what it changes. */
export function TestPart({
  code,
  language,
}: {
  readonly code: string
  readonly language: TransformLanguage
}): ReactElement {
  const newest = useNewestRecords('')
  const [chosen, setChosen] = useState<string | undefined>()
  const [payload, setPayload] = useState('{\n  "id": "o_1",\n  "total": 120\n}')
  const test = useChange([], (client, asked: Asked) => client.transforms.test(asked))
  const recordId = chosen ?? newest?.[0]?.id ?? OWN
  const own = recordId === OWN ? valueOf(payload) : undefined
  const problem = own !== undefined && 'problem' in own ? own.problem : undefined
  const run = (): void => {
    if (own === undefined) test.mutate({ code, language, record_id: recordId })
    else if ('value' in own) test.mutate({ code, language, payload: own.value })
  }
  return (
    <>
      <h3 className="font-title">Test</h3>
      <p className="mb-3 text-ink-3">Runs the code as it is in the editor. Nothing is sent or stored.</p>
      <RecordChoice label="Event" dataset="" at={recordId} go={setChosen} none="Another payload" />
      {recordId === OWN && <JsonField label="Payload" value={payload} change={setPayload} rows={6} onSubmit={run} />}
      <Button
        kind="primary"
        disabled={problem !== undefined || test.isPending || code.trim() === ''}
        title={problem}
        onClick={run}
      >
        Run test
      </Button>
      <div aria-live="polite" aria-busy={test.isPending} className="mt-4">
        <RefusedLine error={test.error} />
        {test.error === null && test.data !== undefined && <Result of={test.data} />}
      </div>
    </>
  )
}

function valueOf(text: string): { readonly value: unknown } | { readonly problem: string } {
  try {
    return { value: JSON.parse(text) }
  } catch {
    return { problem: 'The payload is not JSON.' }
  }
}

function Result({ of }: { readonly of: Tested }): ReactElement {
  const { error, result, before, lines, lines_dropped: dropped, time_us: time } = of
  return (
    <>
      {error === null ? (
        <p className="mb-2 text-ink-2">
          {result === null
            ? 'The code returns null, so nothing is sent.'
            : 'The differences in the body and the headers:'}{' '}
          <span className="text-ink-3">{timeText(time)}</span>
        </p>
      ) : (
        <p role="alert" className="mb-3 rounded-field bg-fail-soft px-3 py-2 break-words text-fail">
          {error.message}
          {error.line !== null && (
            <span className="mono">
              {' '}
              line {error.line}, column {error.column}
            </span>
          )}
        </p>
      )}
      {result !== null && <JsonDiff label="Differences" before={sentOf(before)} after={sentOf(result)} />}
      {lines.length > 0 && (
        <>
          <h4 className="mb-1 font-control">Log</h4>
          <pre
            tabIndex={0}
            aria-label="Log"
            className="mono max-h-48 overflow-auto rounded-field bg-surface p-3 text-data break-all whitespace-pre-wrap"
          >
            {lines.join('\n')}
            {dropped > 0 && `\n(${dropped} more lines)`}
          </pre>
        </>
      )}
    </>
  )
}

const timeText = (us: number): string => (us < 1_000 ? `${us} µs` : `${(us / 1_000).toFixed(1)} ms`)

/** The parts of an event that a destination gets. */
function sentOf(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  const members = new Map<string, unknown>(Object.entries(value))
  return { body: members.get('body'), headers: members.get('headers') ?? {} }
}
