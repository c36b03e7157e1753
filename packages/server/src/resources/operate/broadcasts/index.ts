import { encodeId } from '@postroad/contract'
import { afterCursor, pageOf } from '../../page.ts'
import type { Room } from '../../verbs.ts'
import { listBroadcastsTo, type BroadcastRow } from './queries.ts'

export {
  countWorkspaces,
  lockBroadcast,
  insertBroadcast,
  listBroadcasts,
  setWithdrawn,
  type BroadcastRow,
} from './queries.ts'

export const broadcasts: Room<'broadcasts'> = {
  list: async (ctx, { limit, cursor }) => {
    const found = await listBroadcastsTo(ctx.db, { ...ctx, before: afterCursor(cursor), limit: limit + 1 })
    const { rows, next_cursor } = pageOf(found, limit)
    return { broadcasts: rows.map((row) => presentBroadcast(row, ctx.clock.now())), next_cursor }
  },
}

/** The announcement as members read it. */
export function presentBroadcast(row: BroadcastRow, now: number) {
  const { id, title, text, severity, created_at, ends_at, withdrawn_at } = row
  return {
    id: encodeId('broadcast', id),
    title,
    text,
    severity,
    active: withdrawn_at === null && (ends_at === null || ends_at.getTime() > now),
    created_at: created_at.toISOString(),
    ends_at: ends_at?.toISOString() ?? null,
  }
}
