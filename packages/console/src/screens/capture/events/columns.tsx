import type { ReactElement } from 'react'
import type { EventOrigin } from '@postroad/contract'
import type { Tail } from '../../../data/tail.ts'
import { Glyph, NONE, Segments } from '../../../ui/glyph.tsx'
import { isTree } from '../../../ui/json-lines.ts'
import { leafText } from '@postroad/contract/raw-number'
import { TwoLines, type Column } from '../../../ui/table.tsx'
import { Time, took } from '../../../ui/time.tsx'
import { valueAt } from '@postroad/contract/filter'
import { makerOf } from '../../../parts/event-origin.ts'
import { FIELD } from '../../../parts/columns-dialog.tsx'
import { Fields } from '../../../parts/payload-fields.tsx'
import { previewOf } from '../../../parts/preview.ts'
import type { useTitles } from './use-titles.ts'
import { deliveriesOf, toneOfRow, tonesOf, tookMs, type EventRow } from './rows.ts'

/** The columns to choose from, besides the fields of payloads. */
export const CHOICES = [
  { id: 'time', label: 'Time' },
  { id: 'event', label: 'Event' },
  { id: 'payload', label: 'Payload' },
  { id: 'delivery', label: 'Delivery' },
  { id: 'took', label: 'Took' },
] as const
export const FIRST_COLUMNS: readonly string[] = CHOICES.map(({ id }) => id)
/** A rejected request has no delivery. */
export const REJECTED_COLUMNS: readonly string[] = ['time', 'event', 'payload']

/** The chosen columns; the status of an event always comes first. */
export function chosenColumns(all: readonly Column<EventRow>[], ids: readonly string[]): readonly Column<EventRow>[] {
  const fields = ids.filter((id) => id.startsWith(FIELD)).map((id) => fieldColumn(id.slice(FIELD.length)))
  const chosen = all.filter(({ id }) => id === 'tone' || ids.includes(id))
  const at = chosen.findIndex(({ id }) => id === 'delivery')
  return at < 0 ? [...chosen, ...fields] : chosen.toSpliced(at, 0, ...fields)
}

const CELL_CHARS = 200

function fieldColumn(path: string): Column<EventRow> {
  return {
    id: FIELD + path,
    label: path,
    width: 'minmax(64px,150px)',
    cell: (row) => {
      if (row.kind !== 'record') return null
      const value = valueAt(row.record.data, path)
      if (value === undefined) return NONE
      return <span className="mono block truncate text-meta text-ink-2">{cellText(value)}</span>
    },
  }
}

function cellText(value: unknown): string {
  return (isTree(value) ? JSON.stringify(value) : leafText(value)).slice(0, CELL_CHARS)
}

type Names = {
  readonly webhookName: (id: string) => string
  readonly titleOf: ReturnType<typeof useTitles>
}

/** The columns of the list; they read the tail again each time a row is drawn. */
export function columnsOf(tail: Tail, names: Names): readonly Column<EventRow>[] {
  return [
    {
      id: 'tone',
      label: 'Status',
      hidden: true,
      width: '18px',
      cell: (row) =>
        row.kind === 'gap' ? null : (
          <Glyph
            tone={toneOfRow(row, deliveriesOf(tail, row))}
            label={row.kind === 'unfiled' ? 'in no dataset' : undefined}
          />
        ),
    },
    { id: 'time', label: 'Time', width: '90px', plain: true, cell: ({ at }) => <Time at={at} isDayShown={false} /> },
    {
      id: 'event',
      label: 'Event',
      width: 'minmax(120px,190px)',
      plain: true,
      cell: (row) => <What of={row} {...names} />,
    },
    {
      id: 'payload',
      label: 'Payload',
      width: 'minmax(0,1fr)',
      plain: true,
      cell: (row) => <Preview of={row} titleOf={names.titleOf} />,
    },
    {
      id: 'delivery',
      label: 'Delivery',
      width: '78px',
      cell: (row) => (row.kind === 'record' ? <Segments of={tonesOf(deliveriesOf(tail, row))} /> : null),
    },
    {
      id: 'took',
      label: 'Took',
      width: '58px',
      align: 'right',
      cell: (row) => {
        if (row.kind !== 'record') return null
        const ms = tookMs(row, deliveriesOf(tail, row))
        return ms === null ? NONE : <span className="mono text-meta text-ink-3">{took(ms)}</span>
      },
    },
  ]
}

function What({ of: row, webhookName, titleOf }: Names & { readonly of: EventRow }): ReactElement {
  switch (row.kind) {
    case 'record':
      return <TwoLines top={titleOf(row.record)} below={row.record.dataset} />
    case 'unfiled':
      return (
        <TwoLines
          top={<span className="font-control text-ink-2">in no dataset</span>}
          below={senderOf(row.submission, webhookName)}
        />
      )
    case 'rejection':
      return (
        <TwoLines
          top={
            <span className="font-control text-ink-3">
              rejected{row.rejection.count > 1 ? ` ×${row.rejection.count}` : ''}
            </span>
          }
          below={row.rejection.webhook_id === null ? 'ingest key' : webhookName(row.rejection.webhook_id)}
        />
      )
    case 'gap':
      return <span className="text-ink-3">tail</span>
  }
}

/** The sender of a request by its endpoint, or the part of the project that made the event. */
function senderOf(
  { webhook_id, origin }: { readonly webhook_id: string | null; readonly origin: EventOrigin },
  webhookName: Names['webhookName'],
): string {
  if (webhook_id !== null) return webhookName(webhook_id)
  return origin === null ? 'ingest key' : makerOf(origin).text
}

function Preview({ of: row, titleOf }: Pick<Names, 'titleOf'> & { readonly of: EventRow }): ReactElement {
  switch (row.kind) {
    case 'record':
      return <Fields of={previewOf(row.record.data, titleOf(row.record))} />
    case 'unfiled':
      return <span className="truncate text-ink-3">stored, but no criteria or rule matched</span>
    case 'rejection':
      return (
        <Fields
          of={[
            [row.rejection.reason, ''],
            ['', String(row.rejection.status)],
            ['from', row.rejection.source_ip ?? 'unknown'],
          ]}
        />
      )
    case 'gap':
      return <span className="truncate text-ink-3">{gapText(row.gap)}</span>
  }
}

function gapText({
  ms,
  backfilled,
  missed,
}: {
  readonly ms: number
  readonly backfilled: number
  readonly missed: boolean
}): string {
  const away = `${(ms / 1_000).toFixed(1)} s not received`
  if (missed) return `${away}; events from that time are no longer retained`
  return backfilled === 0
    ? `${away}, no event in that time`
    : `${away}, ${backfilled} ${backfilled === 1 ? 'event' : 'events'} backfilled`
}
