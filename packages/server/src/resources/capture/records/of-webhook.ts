import { decodeId, encodeId, LIMITS } from '@postroad/contract'
import type { Ctx } from '../../../context.ts'
import { parseStoredJson } from '../../../domain/json/json-text.ts'
import { sheetOf, type Column, type Sheet } from '../../../domain/capture/record-sheet.ts'
import { refuse } from '../../../domain/refusal.ts'
import { uuidv7Ms } from '../../../platform/ids.ts'
import { listPayloads } from '../payloads/index.ts'
import { findRecordView, presentRecordView, type RecordViewRow } from '../record-views/index.ts'
import type { Room } from '../../verbs.ts'
import { findWebhook } from '../webhooks/index.ts'
import { findColumns } from './columns/index.ts'
import { listSizedRecords, listWebhookRecords, type WebhookRecordRow } from './queries.ts'
import { sortRecords } from './sort/index.ts'

const { recordsAnswerCharsMax, recordsReadBytesMax } = LIMITS
/** Size of the payloads that are read together. A single one may be larger. */
const READ_AT_ONCE_BYTES = 1_048_576

type OfWebhook = { readonly webhookId: string; readonly limit: number }

/** The records of an endpoint as a table: first the rows and the columns, then the payloads of these rows, batch by batch. */
export const listOfWebhook: Room<'records'>['listOfWebhook'] = async (ctx, { id: webhookId, view: viewId, limit }) => {
  if ((await findWebhook(ctx.db, { ...ctx, id: webhookId })) === undefined) throw refuse('not_found')
  const view = viewId === undefined ? null : await viewOf(ctx, { webhookId, viewId })
  const found = await findColumns(ctx, { ...ctx, webhookId })
  const { listed, since } = await rowsInOrder(ctx, { webhookId, limit, view })
  const sheet = sheetOf({ view: view?.columns ?? null, charsMax: recordsAnswerCharsMax })
  const leftOut = await fillSheet(ctx, { sheet, listed })
  const available = Array.from(new Set([...sheet.keys, ...found.keys]), columnOf)
  return {
    webhook_id: encodeId('webhook', webhookId),
    view: view === null ? null : presentRecordView(view),
    columns: view?.columns ?? available,
    available_columns: available,
    rows: [...sheet.rows],
    count: sheet.rows.length,
    sorted_since: since === null ? null : new Date(uuidv7Ms(since)).toISOString(),
    columns_complete: found.complete,
    left_out: leftOut.map(({ id }) => encodeId('record', id)),
  }
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

/** Returns the rows that were left out, because their payloads are too long or the limit of bytes was reached. */
async function fillSheet(
  ctx: Ctx,
  { sheet, listed }: { readonly sheet: Sheet; readonly listed: readonly WebhookRecordRow[] },
): Promise<readonly WebhookRecordRow[]> {
  const leftOut: WebhookRecordRow[] = []
  let bytes = 0
  for (const batch of batchesOf(listed)) {
    const read = batch.filter((row) => {
      bytes += row.bytes
      return bytes <= recordsReadBytesMax
    })
    // oxlint-disable-next-line no-await-in-loop -- one batch in memory at a time
    const payloads =
      read.length === 0 ? [] : await listPayloads(ctx.db, { ...ctx, recordIds: read.map(({ id }) => id) })
    const byId = new Map(payloads.map(({ id, data }) => [id, data]))
    for (const row of batch) {
      const data = byId.get(row.id)
      if (data === undefined || !sheet.add(sheetRecord(row, data))) leftOut.push(row)
    }
  }
  return leftOut
}

function batchesOf(rows: readonly WebhookRecordRow[]): readonly (readonly WebhookRecordRow[])[] {
  const batches: WebhookRecordRow[][] = []
  let room = 0
  for (const row of rows) {
    room -= row.bytes
    if (room < 0) {
      batches.push([])
      room = READ_AT_ONCE_BYTES - row.bytes
    }
    batches.at(-1)?.push(row)
  }
  return batches
}

function sheetRecord(row: WebhookRecordRow, data: string) {
  const parsed = parseStoredJson(data)
  return {
    id: encodeId('record', row.id),
    received_at: row.received_at.toISOString(),
    source: row.by_key ? 'ingest_key' : 'endpoint_url',
    payload: parsed.ok ? parsed.value : null,
  }
}
