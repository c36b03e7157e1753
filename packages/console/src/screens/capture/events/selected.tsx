import { routes, type RouteAnswer, type Routes } from '@postroad/contract'
import type { Client } from '@postroad/sdk'
import { useState, type ReactElement } from 'react'
import { useAsk } from '../../../data/ask.ts'
import { useDestinations } from '../../../data/names.ts'
import { useRefusal } from '../../../data/place.ts'
import type { Delivery } from '../../../data/tail.ts'
import { ManualMany, type HandVerb } from '../../../parts/manual-many.tsx'
import { useExactClient } from '../../../parts/exact-client.ts'
import { ExportDialog } from '../../../parts/export-dialog.tsx'
import { SelectedBar } from '../../../parts/selected-bar.tsx'
import type { Marks } from '../../../parts/marks.ts'
import { counted } from '../../../parts/text-list.ts'
import { useKeys } from '../../../shell/keys.ts'
import { Button } from '../../../ui/button.tsx'
import { CompareDialog } from './compare-dialog.tsx'
import { exportOf } from './export.ts'
import type { EventRow } from './rows.ts'

type Props = { readonly marks: Marks; readonly rows: readonly EventRow[]; readonly paths: readonly string[] }

/** The actions for the selected events. */
export function SelectedEvents({ marks, rows, paths }: Props): ReactElement {
  const [doing, setDoing] = useState<HandVerb | 'compare' | 'export' | undefined>()
  const marked = rows.filter(({ id }) => marks.has(id))
  const records = marked.flatMap((row) => (row.kind === 'record' ? [row.id] : []))
  const refusal = useRefusal(routes.deliveries.replay)
  const may = refusal === undefined
  const client = useExactClient()
  const close = (): void => setDoing(undefined)
  const [first, second] = records
  const canCompare = records.length === 2 && marked.length === 2
  useKeys({
    '=': canCompare ? () => setDoing('compare') : undefined,
    'shift r': marked.length > 0 ? () => setDoing('replay') : undefined,
  })
  const verb = (name: HandVerb, label: string): ReactElement => (
    <Button disabled={!may || records.length === 0} title={refusal} onClick={() => setDoing(name)}>
      {label}
    </Button>
  )
  return (
    <>
      <SelectedBar marks={marks} shown={rows.filter(({ kind }) => kind !== 'gap').length}>
        {verb('replay', 'Replay')}
        {verb('retry', 'Retry')}
        {verb('cancel', 'Cancel')}
        <Button
          hotkey="="
          disabled={!canCompare}
          title={canCompare ? 'Compares the two events' : 'Select two events to compare them'}
          onClick={() => setDoing('compare')}
        >
          Compare
        </Button>
        <Button onClick={() => setDoing('export')}>Export</Button>
      </SelectedBar>
      {(doing === 'replay' || doing === 'retry' || doing === 'cancel') && (
        <OfRecords verb={doing} ids={records} onClose={close} />
      )}
      {doing === 'compare' && first !== undefined && second !== undefined && (
        <CompareDialog ids={[first, second]} onClose={close} />
      )}
      {doing === 'export' && (
        <ExportDialog
          source={exportOf({
            name: 'selected-events',
            text: `The ${counted(marked.length, 'selected event')}.`,
            paths,
            pages: (signal) => exactly(client, marked, signal),
          })}
          onClose={close}
        />
      )}
    </>
  )
}

const READ_AT_ONCE = 5

/** The selected rows for a file. It reads payloads again, to preserve every digit of their numbers. */
async function* exactly(client: Client, rows: readonly EventRow[], signal: AbortSignal) {
  for (let at = 0; at < rows.length; at += READ_AT_ONCE) {
    const page = rows.slice(at, at + READ_AT_ONCE)
    // oxlint-disable-next-line no-await-in-loop -- a few at a time, so that the rest of the console does not wait
    yield {
      rows: await Promise.all(
        page.map(async (row) =>
          row.kind === 'record'
            ? { ...row, record: filed((await client.records.get({ id: row.id }, { signal })).record) }
            : row,
        ),
      ),
      scanned: page.length,
    }
  }
}

/** A record as lists return it. */
function filed({
  data_text: _text,
  ...record
}: RouteAnswer<Routes['records']['get']>['record']): RouteAnswer<Routes['records']['list']>['records'][number] {
  return record
}

const PAGE_IDS = 100

/** Reads the deliveries of the records first, because the possible actions depend on their states. */
function OfRecords({
  verb,
  ids,
  onClose,
}: {
  readonly verb: HandVerb
  readonly ids: readonly string[]
  readonly onClose: () => void
}): ReactElement {
  const { nameOf } = useDestinations()
  // Each plan reads the deliveries again: their states change within seconds.
  const [asked] = useState(() => ({ ids, at: Date.now() }))
  const { data, error } = useAsk(['marked', 'deliveries', asked], async (client, signal) => {
    const found: Delivery[] = []
    for (let at = 0; at < asked.ids.length; at += PAGE_IDS) {
      for await (const delivery of client.deliveries.list(
        { limit: 200, record_id: asked.ids.slice(at, at + PAGE_IDS).join(',') },
        { signal },
      ))
        found.push(delivery)
    }
    return found
  })
  return <ManualMany verb={verb} deliveries={data} error={error} nameOf={nameOf} onClose={onClose} />
}
