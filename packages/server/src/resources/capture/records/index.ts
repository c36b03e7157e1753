import { encodeId, LIMITS } from '@postroad/contract'
import type { Ctx } from '../../../context.ts'
import { RawJson } from '../../../domain/json/raw-json.ts'
import { encodeCursor } from '../../../domain/serving/cursor.ts'
import { refuse } from '../../../domain/refusal.ts'
import { idRange } from '../../id-range.ts'
import { afterCursor } from '../../page.ts'
import type { Room } from '../../verbs.ts'
import { originOf, verificationOf } from '../submissions/index.ts'
import { listOfWebhook } from './of-webhook.ts'
import { findRecord, listRecords, type Hops, type RecordRow } from './queries.ts'

export { indexProbes, scan as scanRecords } from './scan/index.ts'
export { present as presentRecord }

function present(row: RecordRow) {
  return {
    id: encodeId('record', row.id),
    dataset: row.dataset,
    submission_id: encodeId('submission', row.submission_id),
    received_at: row.received_at.toISOString(),
    webhook_id: row.webhook_id === null ? null : encodeId('webhook', row.webhook_id),
    origin: originOf(row),
    verification: verificationOf(row),
    header_title: row.header_title,
    data: new RawJson(row.data),
  }
}

/** One record of the project, or 404. */
export async function getRecord(ctx: Ctx, id: string): Promise<RecordRow & Hops> {
  const row = await findRecord(ctx.db, { ...ctx, id })
  if (row === undefined) throw refuse('not_found')
  return row
}

export { listNewestRecords, listRecordsById, listWebhookRecords, type RecordRow } from './queries.ts'

export const records: Room<'records'> = {
  list: async (ctx, { limit, cursor, dataset, ...range }) => {
    const page = { before: afterCursor(cursor), limit, bytesMax: LIMITS.recordsListBytesMax }
    const found = await listRecords(ctx.db, { ...ctx, ...idRange(range), ...page, dataset: dataset ?? null })
    const last = found.rows.at(-1)
    return {
      records: found.rows.map(present),
      next_cursor: found.more && last !== undefined ? encodeCursor(last.id) : null,
    }
  },

  get: async (ctx, { id }) => {
    const row = await getRecord(ctx, id)
    return { record: { ...present(row), data_text: row.data } }
  },

  listOfWebhook,
}
