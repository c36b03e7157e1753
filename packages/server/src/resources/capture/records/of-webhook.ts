import { decodeId, encodeId, LIMITS } from '@postroad/contract'
import type { Ctx } from '../../../context.ts'
import { Sheet, type Column } from '../../../domain/capture/record-sheet.ts'
import { RawJson } from '../../../domain/json/raw-json.ts'
import { refuse } from '../../../domain/refusal.ts'
import { uuidv7Ms } from '../../../platform/ids.ts'
import { keysOfList } from '../../../tasks/key-lists.ts'
import { writeRows } from '../../../tasks/record-table.ts'
import { listPayloads } from '../payloads/index.ts'
import { findRecordView, presentRecordView, type RecordViewRow } from '../record-views/index.ts'
import { batchesOf } from '../../batches.ts'
import { writtenAnswer, type Room } from '../../verbs.ts'
import { findWebhook } from '../webhooks/index.ts'
import { findColumns } from './columns/index.ts'
import { listSizedRecords, listWebhookRecords, type WebhookRecordRow } from './queries.ts'
import { sortRecords } from './sort/index.ts'

const { recordsAnswerCharsMax, recordsReadBytesMax } = LIMITS

type OfWebhook = { readonly webhookId: string; readonly limit: number }

/** The records of an endpoint as a table: first the rows and the columns, then the payloads of these rows, batch by batch. */
export const listOfWebhook: Room<'records'>['listOfWebhook'] = async (ctx, { id: webhookId, view: viewId, limit }) => {
  if ((await findWebhook(ctx.db, { ...ctx, id: webhookId })) === undefined) throw refuse('not_found')
  const view = viewId === undefined ? null : await viewOf(ctx, { webhookId, viewId })
  const found = await findColumns(ctx, { ...ctx, webhookId })
  const { listed, since } = await rowsInOrder(ctx, { webhookId, limit, view })
  const sheet = new Sheet(recordsAnswerCharsMax)
  const leftOut = await fillSheet(ctx, { sheet, listed, view: view?.columns ?? null })
  const available = Array.from(new Set([...sheet.keys, ...found.keys]), columnOf)
  return writtenAnswer({
    webhook_id: encodeId('webhook', webhookId),
    view: view === null ? null : presentRecordView(view),
    columns: view?.columns ?? available,
    available_columns: available,
    rows: new RawJson(`[${sheet.rows.join(',')}]`),
    count: sheet.rows.length,
    sorted_since: since === null ? null : new Date(uuidv7Ms(since)).toISOString(),
    columns_complete: found.complete,
    left_out: leftOut.map(({ id }) => encodeId('record', id)),
  })
}

const columnOf = (key: string): Column => ({ key, label: key })

/** A view of another endpoint, or a text that is not an id, gives the same response as a missing view. */
async function viewOf(ctx: Ctx, of: { webhookId: string; viewId: string }) {
  const id = decodeId('recordView', of.viewId)
  const view = id === undefined ? undefined : await findRecordView(ctx.db, { ...ctx, webhookId: of.webhookId, id })
  if (view === undefined) throw refuse('not_found', 'This endpoint has no record view with this id.')
  return view
}

type Listed = { readonly listed: readonly WebhookRecordRow[]; readonly since: string | null }

/** The rows in order; without a sort key, newest first. `sortRecords` explains `since`. */
async function rowsInOrder(
  ctx: Ctx,
  { webhookId, limit, view }: OfWebhook & { readonly view: Pick<RecordViewRow, 'sort_key' | 'sort_dir'> | null },
): Promise<Listed> {
  if (view === null || view.sort_key === null)
    return { listed: await listWebhookRecords(ctx.db, { ...ctx, webhookId, limit }), since: null }
  const order = { key: view.sort_key, dir: view.sort_dir, limit }
  const { ids, since } = await sortRecords(ctx, { of: { ...ctx, webhookId }, order })
  const byId = new Map((await listSizedRecords(ctx.db, { ...ctx, ids })).map((row) => [row.id, row]))
  return { listed: ids.flatMap((id) => byId.get(id) ?? []), since }
}

type Filling = {
  readonly sheet: Sheet
  readonly listed: readonly WebhookRecordRow[]
  readonly view: readonly Column[] | null
}

/** Returns the rows that were left out, because their payloads are too long or the limit of bytes was reached. */
async function fillSheet(ctx: Ctx, { sheet, listed, view }: Filling): Promise<readonly WebhookRecordRow[]> {
  const leftOut: WebhookRecordRow[] = []
  let bytes = 0
  for (const batch of batchesOf(listed, (row) => row.bytes)) {
    const read = batch.filter((row) => {
      bytes += row.bytes
      return bytes <= recordsReadBytesMax
    })
    // oxlint-disable-next-line no-await-in-loop -- one batch in memory at a time
    const payloads =
      read.length === 0 ? [] : await listPayloads(ctx.db, { ...ctx, recordIds: read.map(({ id }) => id) })
    const byId = new Map(payloads.map(({ id, data }) => [id, data]))
    const records = batch.flatMap((row) => sheetRecord(row, byId.get(row.id)) ?? [])
    // oxlint-disable-next-line no-await-in-loop -- as above
    const written = await ctx.heavy.run(writeRows, {
      workspaceId: ctx.workspaceId,
      input: { records, view, charsMax: sheet.charsLeft },
      work: FLATTEN_WORK * bytesOf(payloads) + CELL_WORK * records.length * (view?.length ?? 0),
    })
    const added = new Set(
      records.flatMap(({ id }, at) => {
        const row = written.rows[at] ?? null
        return row !== null && sheet.add(row, keysOfList(written, at)) ? [id] : []
      }),
    )
    leftOut.push(...batch.filter(({ id }) => !added.has(encodeId('record', id))))
  }
  return leftOut
}

/** A character costs about as much as this many in other work, because its path is written again for each value. */
const FLATTEN_WORK = 16
const CELL_WORK = 16

const bytesOf = (payloads: readonly { readonly data: string }[]): number =>
  payloads.reduce((sum, { data }) => sum + data.length, 0)

function sheetRecord(row: WebhookRecordRow, data: string | undefined) {
  if (data === undefined) return undefined
  return {
    id: encodeId('record', row.id),
    received_at: row.received_at.toISOString(),
    source: row.by_key ? 'ingest_key' : 'endpoint_url',
    data,
  }
}
