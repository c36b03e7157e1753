import { afterCursor, readPage } from '../../page.ts'
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
    const asked = { ...filter, workspaceId: ctx.workspaceId, before: afterCursor(cursor) }
    const { rows, next_cursor } = await readPage(ctx.db, {
      limit,
      list: (db, most) => listRows(db, { ...asked, limit: most }),
    })
    return { audit: rows.map(presentRow), next_cursor }
  },

  exportCsv,

  verify: (ctx, asked) => inTurn(ctx.workspaceId, () => verifyAndRecord(ctx, asked)),
}
