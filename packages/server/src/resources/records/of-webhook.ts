import { decodeId, encodeId, LIMITS } from '@postroad/contract'
import type { Ctx } from '../../context.ts'
import { parseStoredJson } from '../../domain/json-text.ts'
import { recordSheet, type SheetRecord } from '../../domain/record-sheet.ts'
import { refuse } from '../../domain/refusal.ts'
import { findRecordView, presentRecordView } from '../record-views/index.ts'
import type { Room } from '../verbs.ts'
import { findWebhook } from '../webhooks/index.ts'
import { listWebhookRecords, type WebhookRecordRow } from './queries.ts'

/** The records of an endpoint as a table. Columns are found in, and a view sorts, the newest 1,000, whatever the limit. */
export const listOfWebhook: Room<'records'>['listOfWebhook'] = async (ctx, { id: webhookId, view: viewId, limit }) => {
  if ((await findWebhook(ctx.db, { ...ctx, id: webhookId })) === undefined) throw refuse('not_found')
  const view = viewId === undefined ? null : await viewOf(ctx, { webhookId, viewId })
  const found = await listWebhookRecords(ctx.db, {
    ...ctx,
    webhookId,
    limit: LIMITS.recordsLimitMax,
    charsMax: LIMITS.storedPayloadsReadBytesMax,
  })
  const { columns, available_columns, rows } = recordSheet(found.map(sheetRecord), { view, limit })
  return {
    webhook_id: encodeId('webhook', webhookId),
    view: view === null ? null : presentRecordView(view),
    columns: [...columns],
    available_columns: [...available_columns],
    rows: [...rows],
    count: rows.length,
  }
}

/** A view of another endpoint, and a text that is no id, answer like one that is not there. */
async function viewOf(ctx: Ctx, of: { webhookId: string; viewId: string }) {
  const id = decodeId('recordView', of.viewId)
  const view = id === undefined ? undefined : await findRecordView(ctx.db, { ...ctx, webhookId: of.webhookId, id })
  if (view === undefined) throw refuse('not_found', 'This endpoint has no record view with this id.')
  return view
}

function sheetRecord(row: WebhookRecordRow): SheetRecord {
  const parsed = parseStoredJson(row.data)
  return {
    id: encodeId('record', row.id),
    received_at: row.received_at.toISOString(),
    source: row.by_key ? 'ingest_key' : 'endpoint_url',
    payload: parsed.ok ? parsed.value : null,
    chars: row.data.length,
  }
}
