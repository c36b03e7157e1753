import type { DryRun } from '@postroad/contract'
import type { UseQueryResult } from '@tanstack/react-query'
import { useState, type ReactElement } from 'react'
import { To } from '../data/go.tsx'
import { Glyph } from '../ui/glyph.tsx'
import { Views } from '../ui/page.tsx'
import { RefusedLine } from '../ui/states.tsx'
import { Time } from '../ui/time.tsx'

const SHOWN = 50
type Result = DryRun['results'][number]

/** The result of conditions and mappings on recent events: which match, and on which condition the others fail. */
export function DryRunResults({
  asked,
  none = 'There is no event to test with. The test runs when you send one.',
}: {
  readonly asked: UseQueryResult<DryRun>
  /** The text when there is no event to test it with. */
  readonly none?: string
}): ReactElement {
  const [view, setView] = useState<'all' | 'matched' | 'failed'>('all')
  if (asked.error !== null) return <RefusedLine error={asked.error} />
  if (asked.data === undefined)
    return (
      <p role="status" className="text-ink-3">
        Testing with recent events…
      </p>
    )
  const { matched, tested, results, not_looked_at } = asked.data
  if (tested === 0) return <p className="text-ink-3">{none}</p>
  if (results.every(({ index }) => index !== null)) return <Own results={results} isStale={asked.isPlaceholderData} />
  const found = results.filter((one) => view === 'all' || one.matched === (view === 'matched'))
  return (
    <div aria-busy={asked.isPlaceholderData}>
      <p role="status" className="mb-2 text-lead">
        <b className="font-title">{matched}</b> of the last {tested} {tested === 1 ? 'event matches' : 'events match'}
      </p>
      <div aria-hidden className="mb-2 flex h-1.5 overflow-hidden rounded-full bg-press">
        <i className="bg-ok-quiet" style={{ width: `${(matched / tested) * 100}%` }} />
      </div>
      <Views
        label="Which events"
        at={view}
        go={setView}
        of={[
          { id: 'all', label: 'All', count: tested },
          { id: 'matched', label: 'Match', count: matched },
          { id: 'failed', label: 'No match', count: tested - matched },
        ]}
      />
      <ul aria-label="Tested with" className="mt-1">
        {found.slice(0, SHOWN).map((one) => (
          // The items of one event have its id.
          <Line key={results.indexOf(one)} result={one} />
        ))}
      </ul>
      {found.length > SHOWN && <p className="mt-2 text-data text-ink-3">The newest {SHOWN} of them are shown.</p>}
      {not_looked_at !== undefined && (
        <p className="mt-2 text-data text-ink-3">
          {not_looked_at} older events were not tested, because the conditions take too long on large events.
        </p>
      )}
    </div>
  )
}

/** The result for payloads that a person wrote here. They are not among the last events, so nothing is counted. */
function Own({ results, isStale }: { readonly results: readonly Result[]; readonly isStale: boolean }): ReactElement {
  return (
    <div aria-busy={isStale}>
      {results.map((one) => (
        <div key={one.index}>
          <p role="status" className="mb-2 flex items-center gap-2 text-lead">
            <Glyph tone={one.matched ? 'ok' : 'rejected'} label="" />
            {one.matched ? 'The payload matches.' : 'The payload does not match.'}
          </p>
          {one.failed !== null && <p className="text-ink-2">{failureText(one.failed)}</p>}
          {one.matched && !one.data_left_out && <RecordText data={one.data} />}
        </div>
      ))}
    </div>
  )
}

function RecordText({ data }: { readonly data: unknown }): ReactElement {
  return (
    <pre
      tabIndex={0}
      aria-label="The record"
      className="mono max-h-60 overflow-auto rounded-field bg-surface p-2.5 text-data"
    >
      {JSON.stringify(data, null, 2)}
    </pre>
  )
}

function Line({
  result: { submission_id, received_at, matched, failed, data, data_left_out, error },
}: {
  readonly result: Result
}): ReactElement {
  return (
    <li className="border-b border-line/55">
      <details>
        <summary className="flex min-h-9 cursor-default items-center gap-2.5 outline-offset-[-2px] hover:bg-hover">
          <Glyph tone={matched ? 'ok' : 'rejected'} label={matched ? 'matches' : 'does not match'} />
          {received_at !== null && <Time at={received_at} />}
          <span className="line-clamp-2 min-w-0 py-1 text-data leading-4 break-words text-ink-2">
            {error ?? (failed === null ? 'matches' : failureText(failed))}
          </span>
        </summary>
        <div className="pb-2 pl-6">
          {matched && !data_left_out && <RecordText data={data} />}
          {data_left_out && <p className="text-ink-3">The record is too long to show here.</p>}
          {submission_id !== null && (
            <To
              screen="events"
              search={{ sel: submission_id }}
              className="mt-1 inline-flex min-h-6 items-center text-accent underline"
            >
              Open the event
            </To>
          )}
        </div>
      </details>
    </li>
  )
}

/** The condition that did not match, and the value that it saw: `total > 1000, but it is 42.5`. */
function failureText({ path, op, expected, saw }: NonNullable<Result['failed']>): string {
  const wanted = op === 'exists' ? `${path} exists` : `${path} ${WORDS[op] ?? op} ${JSON.stringify(expected)}`
  return saw === undefined
    ? `${wanted}, but the field is missing`
    : `${wanted}, but the value is ${JSON.stringify(saw)}`
}

const WORDS: Readonly<Record<string, string>> = {
  equals: 'is',
  not_equals: 'is not',
  gt: '>',
  gte: '≥',
  lt: '<',
  lte: '≤',
  in: 'is one of',
  regex: 'matches',
}
