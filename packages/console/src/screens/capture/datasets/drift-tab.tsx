import type { ReactElement } from 'react'
import { To } from '../../../data/go.tsx'
import type { Dataset } from '../../../data/serving-lists.ts'
import { Glyph, type Tone } from '../../../ui/glyph.tsx'
import { Empty, Loading, Refused } from '../../../ui/states.tsx'
import { Time } from '../../../ui/time.tsx'
import { useSchema, type Schema } from './use-schema.ts'

type Drift = Schema['drifts'][number]

const TONES: Readonly<Record<Drift['kind'], Tone>> = {
  field_added: 'none',
  type_added: 'retry',
  field_gone: 'fail',
  field_back: 'ok',
}

/** How the records changed over time, newest first. */
export function DriftTab({ dataset: { id } }: { readonly dataset: Dataset }): ReactElement {
  const asked = useSchema(id)
  if (asked.data === undefined)
    return asked.error === null ? <Loading rows={5} /> : <Refused error={asked.error} again={asked.refetch} />
  const { drifts } = asked.data.schema
  if (drifts.length === 0)
    return (
      <Empty title="No schema changes yet">
        New fields, changed types and missing fields appear here. Postroad learns the schema from the first 20 records,
        and then reports changes.
      </Empty>
    )
  return (
    <ol aria-label="Schema changes">
      {drifts.map(({ kind, path, type, record_id, at }) => (
        <li
          key={`${at} ${kind} ${path} ${type}`}
          className="flex min-h-11 flex-wrap items-center gap-x-3 border-b border-line/55 px-5 py-1.5"
        >
          <Glyph tone={TONES[kind]} label="" />
          <Time at={at} />
          <span className="min-w-0 flex-1 break-words">
            <b className="mono text-data">{path}</b> {sentence(kind, type)}
          </span>
          <To
            screen="events"
            search={{ sel: record_id }}
            className="inline-flex min-h-6 items-center text-accent underline"
          >
            The record
          </To>
        </li>
      ))}
    </ol>
  )
}

// oxlint-disable-next-line max-params -- a change and its type
function sentence(kind: Drift['kind'], type: Drift['type']): string {
  switch (kind) {
    case 'field_added':
      return type === null ? 'is new' : `is new: ${type}`
    case 'type_added':
      return `became ${type ?? 'another type'} in some records`
    case 'field_gone':
      return 'is missing in 50 records in a row'
    case 'field_back':
      return 'is present again'
  }
}
