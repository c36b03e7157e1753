import { routes, type RouteAnswer, type Routes } from '@postroad/contract'
import { useState, type ReactElement } from 'react'
import { useAsk } from '../../../data/ask.ts'
import { To, useSearchState } from '../../../data/go.tsx'
import type { Webhook } from '../../../data/lists.ts'
import { useRefusal } from '../../../data/place.ts'
import { RemoveDialog } from '../../../parts/remove-dialog.tsx'
import type { ResourceSearch } from '../../../parts/resource-screen.tsx'
import { counted } from '../../../parts/text-list.ts'
import { NONE } from '../../../ui/glyph.tsx'
import { Button } from '../../../ui/button.tsx'
import { Views } from '../../../ui/page.tsx'
import { Empty, Loading, Refused } from '../../../ui/states.tsx'
import { Time } from '../../../ui/time.tsx'
import { ViewDialog, type RecordView } from './view-dialog.tsx'

type Column = { readonly key: string; readonly label: string }

const ROWS = 100
const COLUMNS_MAX = 14
const LEFT_OUT_SHOWN = 5
const POLL_MS = 10_000
/** A view with an order makes the server compare every record. */
const SORTED_POLL_MS = 60_000
const NO_VIEWS: readonly never[] = []
const RECEIVED: Column = { key: '_received_at', label: 'Received' }
const SOURCE: Column = { key: '_source', label: 'By' }

type TabSearch = ResourceSearch & { readonly records?: string }
type Answer = RouteAnswer<Routes['records']['listOfWebhook']>

/** The records of an endpoint as a table. The columns come from the payloads or from a view. */
export function RecordsTab({ webhook: { id } }: { readonly webhook: Webhook }): ReactElement {
  const [search] = useSearchState<TabSearch>()
  const views = useAsk(['views', id], (client, signal) => client.recordViews.list({ id, limit: 200 }, { signal }))
  const all = views.data?.views ?? NO_VIEWS
  const view =
    search.records === 'all'
      ? undefined
      : (all.find((one) => one.id === search.records) ?? all.find((one) => one.is_default))
  const asked = useAsk(
    ['records', 'of', id, view?.id],
    (client, signal) => client.records.listOfWebhook({ id, view: view?.id, limit: ROWS }, { signal }),
    { everyMs: (view?.sort_key ?? null) === null ? POLL_MS : SORTED_POLL_MS, keep: true, enabled: !views.isPending },
  )
  const error = views.error ?? asked.error
  if (asked.data !== undefined) return <Found webhookId={id} all={all} view={view} answer={asked.data} />
  return error === null ? <Loading rows={10} height={32} /> : <Refused error={error} again={asked.refetch} />
}

type FoundProps = {
  readonly webhookId: string
  readonly all: readonly RecordView[]
  readonly view: RecordView | undefined
  readonly answer: Answer
}

function Found({ webhookId, all, view, answer }: FoundProps): ReactElement {
  const { columns, available_columns, rows } = answer
  const [, setSearch] = useSearchState<TabSearch>()
  const [dialog, setDialog] = useState<'create' | 'edit' | 'remove' | undefined>()
  const refusal = useRefusal(routes.recordViews.create)
  const may = refusal === undefined
  const shown =
    view === undefined ? [RECEIVED, ...columns.slice(0, COLUMNS_MAX)] : columns.filter(({ key }) => key !== '_id')
  const close = (): void => setDialog(undefined)
  return (
    <div className="flex h-full min-h-0 flex-col">
      <div className="flex min-h-10 flex-none items-center gap-2 border-b border-line/55 pr-3 pl-3">
        <Views
          label="Record views"
          at={view?.id ?? 'all'}
          go={(records) => setSearch({ records })}
          of={[
            {
              id: 'all',
              label: available_columns.length > COLUMNS_MAX ? `First ${COLUMNS_MAX} columns` : 'Every column',
            },
            ...all.map((one) => ({ id: one.id, label: one.name })),
          ]}
        />
        <span className="flex-1" />
        {view !== undefined && (
          <Button disabled={!may} onClick={() => setDialog('edit')}>
            Edit view
          </Button>
        )}
        {view !== undefined && (
          <Button disabled={!may} onClick={() => setDialog('remove')}>
            Delete view
          </Button>
        )}
        <Button
          disabled={!may || rows.length === 0}
          title={may ? 'A named set of columns' : refusal}
          onClick={() => setDialog('create')}
        >
          New view
        </Button>
      </div>
      {rows.length === 0 && answer.left_out.length === 0 ? (
        <Empty title="No records yet">
          Each payload that meets the criteria becomes a record here. Its fields become the columns.
        </Empty>
      ) : (
        <Grid columns={shown} rows={rows} />
      )}
      {rows.length + answer.left_out.length > 0 && (
        <div className="flex-none border-t border-line px-5 py-1.5 text-data text-ink-3">
          {countText(answer)}
          {view === undefined && columns.length > COLUMNS_MAX
            ? `, ${COLUMNS_MAX} of ${columns.length} columns. Create a view to choose others.`
            : ''}
          <Bounds answer={answer} />
        </div>
      )}
      {(dialog === 'create' || dialog === 'edit') && (
        <ViewDialog
          webhookId={webhookId}
          known={[RECEIVED, SOURCE, ...available_columns]}
          view={dialog === 'edit' ? view : undefined}
          onClose={close}
          onSaved={(saved) => {
            close()
            setSearch({ records: saved.id })
          }}
        />
      )}
      {dialog === 'remove' && view !== undefined && (
        <RemoveDialog
          name={`the view ${view.name}`}
          removal={{
            verb: 'Delete',
            text: 'The records are not deleted.',
            rooms: ['views', 'records'],
            run: (client) => client.recordViews.remove({ id: webhookId, view_id: view.id }),
          }}
          onClose={close}
          onRemoved={() => {
            close()
            setSearch({ records: undefined })
          }}
        />
      )}
    </div>
  )
}

/** After a full page there can be more records. */
function countText({ rows, left_out, view }: Answer): string {
  const count = counted(rows.length, 'record')
  if (rows.length + left_out.length < ROWS) return count
  return `The ${(view?.sort_key ?? null) === null ? 'newest' : 'first'} ${count}`
}

/** The parts that the answer leaves out because of a bound. */
function Bounds({ answer: { sorted_since, columns_complete, left_out } }: { readonly answer: Answer }): ReactElement {
  return (
    <>
      {sorted_since !== null && (
        <p>
          There are too many records to sort. This list contains the records received since <Time at={sorted_since} />.
        </p>
      )}
      {!columns_complete && <p>Older records can have more columns. Each refresh reads more records.</p>}
      {left_out.length > 0 && (
        <p>
          {counted(left_out.length, 'record')} too large for this table:{' '}
          {left_out.slice(0, LEFT_OUT_SHOWN).map((id) => (
            <To key={id} screen="events" search={{ sel: id }} className="mono mr-2 text-accent">
              {id}
            </To>
          ))}
          {left_out.length > LEFT_OUT_SHOWN && '…'}
        </p>
      )}
    </>
  )
}

function Grid({
  columns,
  rows,
}: {
  readonly columns: readonly Column[]
  readonly rows: readonly Readonly<Record<string, unknown>>[]
}): ReactElement {
  return (
    <div className="min-h-0 flex-1 overflow-auto outline-offset-[-2px]" tabIndex={0} role="region" aria-label="Records">
      <table className="min-w-full border-separate border-spacing-0">
        <thead>
          <tr>
            {columns.map(({ key, label }) => (
              <th
                key={key}
                scope="col"
                className="sticky top-0 h-7 border-b border-line bg-surface px-3 text-left text-meta font-text whitespace-nowrap text-ink-3 first:pl-5"
              >
                {HEADS[key] ?? (label === '' ? '(empty key)' : label)}
              </th>
            ))}
            <th scope="col" className="sticky top-0 border-b border-line bg-surface">
              <span className="sr-only">Event</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={String(row['_id'])} className="hover:bg-hover">
              {columns.map(({ key }) => (
                <td
                  key={key}
                  className="h-8 max-w-64 truncate border-b border-line/55 px-3 whitespace-nowrap first:pl-5"
                >
                  <Cell name={key} value={Object.hasOwn(row, key) ? row[key] : undefined} />
                </td>
              ))}
              <td className="border-b border-line/55 pr-5 text-right">
                <To
                  screen="events"
                  search={{ sel: String(row['_id']) }}
                  className="inline-flex min-h-6 items-center text-accent"
                >
                  Open<span className="sr-only"> {String(row['_id'])}</span>
                </To>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

const HEADS: Readonly<Record<string, string | undefined>> = { _received_at: 'Received', _source: 'By' }

function Cell({ name, value }: { readonly name: string; readonly value: unknown }): ReactElement {
  if (name === '_received_at' && typeof value === 'string') return <Time at={value} />
  if (name === '_source') return <span className="text-ink-3">{value === 'ingest_key' ? 'ingest key' : 'its URL'}</span>
  if (value === null || value === undefined) return NONE
  const color = typeof value === 'number' ? 'text-j-num' : typeof value === 'boolean' ? 'text-j-bool' : 'text-ink-2'
  return <span className={`mono text-data ${color}`}>{typeof value === 'string' ? value : JSON.stringify(value)}</span>
}
