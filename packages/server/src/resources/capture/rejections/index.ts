import { encodeId, REMEDIES, stateOfRefused, type Rejection } from '@postroad/contract'
import { idRange } from '../../id-range.ts'
import { afterCursor, pageOf } from '../../page.ts'
import type { Room } from '../../verbs.ts'
import { listRejections, type RejectionRow } from './queries.ts'

export { auditSignatures } from './audit-signatures.ts'
export { deleteRejectionsOfProject, findRejection, type RejectionRow } from './queries.ts'

const MINUTE_MS = 60_000

/** Row → public shape. */
export const presentRejection = (row: RejectionRow): Rejection => ({
  id: encodeId('rejection', row.id),
  webhook_id: row.webhook_id === null ? null : encodeId('webhook', row.webhook_id),
  ingest_key_id: row.ingest_key_id === null ? null : encodeId('ingestKey', row.ingest_key_id),
  reason: row.reason,
  status: row.status,
  count: row.count,
  at: row.at.toISOString(),
  source_ip: row.source_ip,
  method: row.method,
  content_type: row.content_type,
  remedy: REMEDIES[row.reason],
  verification: stateOfRefused(row.reason),
})

export const rejections: Room<'rejections'> = {
  list: async (ctx, { limit, cursor, webhook_id, ingest_key_id, reason, from, to }) => {
    // A row covers a whole minute, and its id contains that minute.
    const minute = from === undefined ? undefined : new Date(Math.floor(from.getTime() / MINUTE_MS) * MINUTE_MS)
    const found = await listRejections(ctx.db, {
      ...ctx,
      ...idRange({ from: minute, to }),
      webhookId: webhook_id ?? null,
      ingestKeyId: ingest_key_id ?? null,
      reason: reason ?? null,
      before: afterCursor(cursor),
      limit: limit + 1,
    })
    const { rows, next_cursor } = pageOf(found, limit)
    return { rejections: rows.map(presentRejection), next_cursor }
  },
}
