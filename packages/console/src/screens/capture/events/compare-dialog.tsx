import type { ReactElement } from 'react'
import { useState } from 'react'
import { useAsk } from '../../../data/ask.ts'
import { Button } from '../../../ui/button.tsx'
import { Dialog } from '../../../ui/dialog.tsx'
import { Check } from '../../../ui/field.tsx'
import { readJson } from '@postroad/contract/raw-number'
import { Loading, Refused } from '../../../ui/states.tsx'
import { Time } from '../../../ui/time.tsx'
import { differencesOf, type Difference } from './differences.ts'
import { useTitles } from './use-titles.ts'

const SIGNS = { same: ' ', changed: '≠', added: '+', removed: '−' } as const
const WORDS = {
  same: 'the same',
  changed: 'changed',
  added: 'only in the newer event',
  removed: 'only in the older event',
} as const
const TONES = { same: '', changed: 'bg-retry-soft', added: 'bg-ok-soft', removed: 'bg-fail-soft' } as const

/** Two events side by side: the differences of their payloads, query strings and headers. */
export function CompareDialog({
  ids: [first, second],
  onClose,
}: {
  readonly ids: readonly [string, string]
  readonly onClose: () => void
}): ReactElement {
  const [withSame, setWithSame] = useState(false)
  // Ids grow with time: the older event is on the left.
  const [older, newer] = first < second ? [first, second] : [second, first]
  const before = useEvent(older)
  const after = useEvent(newer)
  const titleOf = useTitles()
  const error = before.error ?? after.error
  return (
    <Dialog
      open
      onClose={onClose}
      wide
      title="Compare two events"
      lead="The older event is on the left."
      actions={
        <>
          <span className="mr-auto self-center">
            <Check
              label="Show matching values"
              checked={withSame}
              onChange={({ target }) => setWithSame(target.checked)}
            />
          </span>
          <Button onClick={onClose}>Close</Button>
        </>
      }
    >
      {error !== null && <Refused error={error} again={() => (before.error === null ? after : before).refetch()} />}
      {error === null && (before.data === undefined || after.data === undefined) && <Loading rows={6} height={28} />}
      {before.data !== undefined && after.data !== undefined && (
        <>
          <div className="mb-2 grid grid-cols-[minmax(0,1fr)_minmax(0,1.2fr)_minmax(0,1.2fr)] gap-x-3 px-1.5 max-md:grid-cols-2">
            <span className="max-md:hidden" />
            {[before.data, after.data].map(({ id, record, at }) => (
              <span key={id} className="min-w-0">
                <b className="block truncate font-strong">{titleOf(record)}</b>
                <span className="mono block break-all text-meta text-ink-3">{id}</span>
                <Time at={at} />
              </span>
            ))}
          </div>
          <Part title="Payload" of={differencesOf(before.data.payload, after.data.payload)} withSame={withSame} />
          {(before.data.query !== null || after.data.query !== null) && (
            <Part title="Query string" of={differencesOf(before.data.query, after.data.query)} withSame={withSame} />
          )}
          <Part title="Headers" of={differencesOf(before.data.headers, after.data.headers)} withSame={withSame} />
        </>
      )}
    </Dialog>
  )
}

function useEvent(id: string) {
  return useAsk(['records', 'compared', id], async (client, signal) => {
    const { record } = await client.records.get({ id }, { signal })
    const { submission } = await client.submissions.get({ id: record.submission_id }, { signal })
    return {
      id,
      record,
      at: record.received_at,
      payload: readJson(record.data_text),
      query: submission.query,
      headers: submission.headers,
    }
  })
}

function Part({
  title,
  of,
  withSame,
}: {
  readonly title: string
  readonly of: readonly Difference[]
  readonly withSame: boolean
}): ReactElement {
  const different = of.filter(({ kind }) => kind !== 'same')
  const shown = withSame ? of : different
  return (
    <section className="mb-4" aria-label={title}>
      <h3 className="flex items-baseline gap-2 font-strong">
        {title}
        <span className="text-data font-text text-ink-3">
          {different.length === 0 ? 'no difference' : `${different.length} of ${of.length} differ`}
        </span>
      </h3>
      {shown.length > 0 && (
        <ul className="mono mt-1 text-data">
          {shown.map(({ path, kind, left, right }) => (
            <li
              key={path}
              className={`grid grid-cols-[minmax(0,1fr)_minmax(0,1.2fr)_minmax(0,1.2fr)] gap-x-3 rounded-chip border-b border-line/55 px-1.5 py-0.5 max-md:grid-cols-2 ${TONES[kind]}`}
            >
              <span className="break-words text-ink-2 max-md:col-span-2">
                <b aria-hidden className="inline-block w-4 font-title text-ink">
                  {SIGNS[kind]}
                </b>
                <span className="sr-only">{WORDS[kind]}: </span>
                {path === '' ? 'the whole value' : path}
              </span>
              <span className="break-words">{left ?? <i className="text-ink-2">missing</i>}</span>
              <span className="break-words">{right ?? <i className="text-ink-2">missing</i>}</span>
            </li>
          ))}
        </ul>
      )}
    </section>
  )
}
