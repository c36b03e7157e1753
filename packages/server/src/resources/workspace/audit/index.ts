import { afterCursor, pageOf } from '../../page.ts'
import type { Room } from '../../verbs.ts'
import { exportCsv } from './export-csv.ts'
import { createVerifications } from './in-turn.ts'
import { presentRow } from './present.ts'
import { listRows } from './queries.ts'
import { verifyAndRecord } from './verify.ts'

export { anchorChains } from './anchor-chains.ts'
export { actorNames, audit, type AuditEntry } from './append.ts'
export { pruneAudit } from './prune.ts'
export { findBrokenChains } from './verify.ts'

const inTurn = createVerifications()

export const auditLog: Room<'audit'> = {
  list: async (ctx, { limit, cursor, ...filter }) => {
    const found = await listRows(ctx.db, {
      ...filter,
      workspaceId: ctx.workspaceId,
      before: afterCursor(cursor),
      limit: limit + 1,
    })
    const { rows, next_cursor } = pageOf(found, limit)
    return { audit: rows.map(presentRow), next_cursor }
  },

  exportCsv,

  verify: (ctx, asked) => inTurn(ctx.workspaceId, () => verifyAndRecord(ctx, asked)),
}
