import { routes } from '@postroad/contract'
import { useState, type ReactElement } from 'react'
import { useClient, usePlace, useRefusal } from '../../../data/place.ts'
import { searchText } from '../../../data/search-text.ts'
import type { ListedDelivery } from '../../../data/tail.ts'
import { ManualMany, type HandVerb } from '../../../parts/manual-many.tsx'
import { adminCurl } from '../../../parts/commands.ts'
import { ExportDialog, type ExportSource } from '../../../parts/export-dialog.tsx'
import { SelectedBar } from '../../../parts/selected-bar.tsx'
import type { Marks } from '../../../parts/marks.ts'
import { counted } from '../../../parts/text-list.ts'
import { useKeys } from '../../../shell/keys.ts'
import { apiPath, boundsOf, readDeliveries, type DeliveriesSearch, type DeliveryPage } from './search.ts'
import { Button } from '../../../ui/button.tsx'
import { useCopy } from '../../../ui/copy.tsx'
import { MoreMenu } from '../../../ui/menu.tsx'

/** The actions on the selected deliveries. */
export function SelectedDeliveries({
  marks,
  rows,
  nameOf,
}: {
  readonly marks: Marks
  readonly rows: readonly ListedDelivery[]
  readonly nameOf: (id: string) => string
}): ReactElement {
  const [doing, setDoing] = useState<
    { readonly what: HandVerb | 'export'; readonly of: readonly ListedDelivery[] } | undefined
  >()
  const refusal = useRefusal(routes.deliveries.replay)
  const may = refusal === undefined
  const marked = rows.filter(({ id }) => marks.has(id))
  const begin = (what: HandVerb | 'export'): void => setDoing({ what, of: marked })
  useKeys({ 'shift r': marked.length > 0 ? () => begin('replay') : undefined })
  const verb = (name: HandVerb, label: string): ReactElement => (
    <Button disabled={!may} title={refusal} onClick={() => begin(name)}>
      {label}
    </Button>
  )
  return (
    <>
      <SelectedBar marks={marks} shown={rows.length}>
        {verb('replay', 'Replay')}
        {verb('retry', 'Retry')}
        {verb('cancel', 'Cancel')}
        <Button onClick={() => begin('export')}>Export</Button>
      </SelectedBar>
      {doing !== undefined && doing.what !== 'export' && (
        <ManualMany
          verb={doing.what}
          deliveries={doing.of}
          error={null}
          nameOf={nameOf}
          onClose={() => setDoing(undefined)}
        />
      )}
      {doing?.what === 'export' && (
        <ExportDialog
          source={exportOf(
            'selected-deliveries',
            `The ${counted(doing.of.length, 'selected delivery', 'selected deliveries')}.`,
            () => once(doing.of),
          )}
          onClose={() => setDoing(undefined)}
        />
      )}
    </>
  )
}

/** The actions on every delivery that the list shows. */
export function ListMenu({ search }: { readonly search: DeliveriesSearch }): ReactElement {
  const { project } = usePlace()
  const client = useClient()
  const copy = useCopy()
  const [isExporting, setExporting] = useState(false)
  const { path, query } = apiPath(search)
  async function* pages(signal: AbortSignal): AsyncGenerator<{ rows: readonly ListedDelivery[]; scanned: number }> {
    const { from, to = new Date(Date.now() + 1).toISOString() } = boundsOf(search)
    let cursor: string | undefined
    do {
      // oxlint-disable-next-line no-await-in-loop -- a page starts where the previous one ended
      const page: DeliveryPage = await readDeliveries(client, { search, from, to, limit: 200, cursor, signal })
      yield { rows: page.deliveries, scanned: page.deliveries.length }
      cursor = page.next_cursor ?? undefined
    } while (cursor !== undefined)
  }
  return (
    <>
      <MoreMenu
        items={[
          { label: 'Export…', go: () => setExporting(true) },
          {
            label: 'Copy the list as curl',
            go: () => void copy(adminCurl({ project, path: `${path}${searchText(query)}` }), 'Command copied'),
          },
        ]}
      />
      {isExporting && (
        <ExportDialog
          source={exportOf('deliveries', 'All deliveries that match the filters, newest first.', pages)}
          onClose={() => setExporting(false)}
        />
      )}
    </>
  )
}

const MEMBERS = [
  'id',
  'record_id',
  'dataset',
  'destination_id',
  'state',
  'pause_reason',
  'held_by',
  'attempt_count',
  'next_attempt_at',
  'last_status',
  'last_error',
  'created_at',
  'updated_at',
] as const

// oxlint-disable-next-line max-params -- the name of the file, its description, and its rows
function exportOf(
  name: string,
  text: string,
  pages: ExportSource<ListedDelivery>['pages'],
): ExportSource<ListedDelivery> {
  return {
    name,
    text,
    pages,
    columns: [
      ...MEMBERS.map((member) => ({
        name: member,
        of: (row: ListedDelivery) =>
          row[member] === null ? null : member === 'held_by' ? (row.held_by?.cause ?? null) : String(row[member]),
      })),
      { name: 'event_title', of: (row) => row.event.title },
    ],
    json: (row) => row,
  }
}

// oxlint-disable-next-line require-await -- an export takes asynchronous pages, and these rows are here already
async function* once(rows: readonly ListedDelivery[]) {
  yield { rows, scanned: rows.length }
}
