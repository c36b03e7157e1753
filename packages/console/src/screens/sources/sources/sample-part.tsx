import { routes, type RouteAnswer, type Routes } from '@postroad/contract'
import type { ReactElement } from 'react'
import { useChange } from '../../../data/ask.ts'
import { useRefusal } from '../../../data/place.ts'
import { CopyAs } from '../../../parts/copy-as.tsx'
import { counted } from '../../../parts/text-list.ts'
import { Button } from '../../../ui/button.tsx'
import { Chip } from '../../../ui/glyph.tsx'
import { RefusedLine } from '../../../ui/states.tsx'
import { secretless, settingsOf, type SourceDraft } from './draft.ts'

type Answer = RouteAnswer<Routes['sources']['test']>

/** Connects with the settings as they are in the form, and shows the next items. Nothing is stored. */
export function SamplePart({
  draft,
  sourceId,
}: {
  readonly draft: SourceDraft
  /** A saved source, whose stored secret the settings may leave out. */
  readonly sourceId?: string
}): ReactElement {
  const refusal = useRefusal(routes.sources.test)
  const may = refusal === undefined
  const read = settingsOf(draft)
  const isStream = draft.kind === 'postgres_replication'
  const test = useChange([], (client) =>
    'settings' in read
      ? client.sources.test({ settings: read.settings, ...(sourceId === undefined ? {} : { source_id: sourceId }) })
      : Promise.reject(new Error(read.problem)),
  )
  const call =
    'settings' in read
      ? {
          method: 'POST' as const,
          path: 'sources/test',
          body: { settings: secretless({ name: '', dataset: '', settings: read.settings }).settings },
        }
      : undefined
  return (
    <section aria-label="Test" className="mb-3.5 rounded-field border border-line bg-sunken p-3.5">
      <div className="flex flex-wrap items-center gap-2">
        <p className="mr-auto min-w-0 text-ink-2">
          {isStream
            ? 'A test connects and checks the privileges, tables, publication and slot. It does not create anything.'
            : 'A test connects and shows the next items. It does not store anything.'}
        </p>
        <CopyAs call={call} />
        <Button
          disabled={!may || test.isPending || 'problem' in read}
          title={may ? ('problem' in read ? read.problem : undefined) : refusal}
          onClick={() => test.mutate(undefined)}
        >
          {test.data === undefined ? 'Test' : 'Test again'}
        </Button>
      </div>
      {test.isPending && (
        <p role="status" className="mt-2 text-ink-3">
          Connecting…
        </p>
      )}
      <RefusedLine error={test.error} />
      {!test.isPending && test.data !== undefined && <Result answer={test.data} isStream={isStream} />}
    </section>
  )
}

function Result({
  answer: { ok, items, error },
  isStream,
}: {
  readonly answer: Answer
  /** Changes come later, so a test has none to show. */
  readonly isStream: boolean
}): ReactElement {
  return (
    <div role="status" className="mt-2.5">
      <Chip tone={ok ? 'ok' : 'fail'}>
        {!ok
          ? 'The test failed'
          : isStream
            ? 'The test succeeded'
            : `The test succeeded: ${counted(items.length, 'item')}`}
      </Chip>
      {error !== null && (
        <p className="mt-1.5 break-words text-fail">
          {error.error} <span className="mono text-meta">{error.reason}</span>
        </p>
      )}
      {ok && isStream && <p className="mt-1.5 text-ink-3">The next change in these tables becomes an event.</p>}
      {ok && !isStream && items.length === 0 && (
        <p className="mt-1.5 text-ink-3">There are no items yet. The next item becomes an event.</p>
      )}
      {items.length > 0 && (
        <pre
          tabIndex={0}
          aria-label="Items"
          className="mono mt-2 max-h-56 overflow-auto rounded-field bg-surface p-2.5 text-data break-all whitespace-pre-wrap"
        >
          {items.map((item) => JSON.stringify(item, null, 2)).join('\n')}
        </pre>
      )}
    </div>
  )
}
