import { encodeId } from '@postroad/contract'
import { refuse } from '../../../domain/refusal.ts'
import { inTransaction } from '../../../transaction.ts'
import { afterCursor, pageOf } from '../../page.ts'
import type { Room } from '../../verbs.ts'
import {
  countWorkspaces,
  lockBroadcast,
  insertBroadcast,
  listBroadcasts,
  presentBroadcast,
  setWithdrawn,
  type BroadcastRow,
} from '../broadcasts/index.ts'
import { auditInstallation, operatorOf } from '../operators/index.ts'

export const platformBroadcasts: Room<'platformBroadcasts'> = {
  list: async (ctx, { limit, cursor }) => {
    const found = await listBroadcasts(ctx.db, { before: afterCursor(cursor), limit: limit + 1 })
    const { rows, next_cursor } = pageOf(found, limit)
    return { broadcasts: rows.map((row) => present(row, ctx.clock.now())), next_cursor }
  },

  create: (ctx, { title, text, severity, workspace_ids: workspaceIds, ends_at: endsAt }) => {
    const now = ctx.clock.now()
    if (endsAt !== null && endsAt.getTime() <= now)
      throw refuse('invalid_request', 'ends_at must be in the future, or null.')
    return inTransaction(ctx, async (tx) => {
      const to = workspaceIds === null ? null : [...new Set(workspaceIds)]
      if (to !== null && (await countWorkspaces(tx.db, to)) < to.length)
        throw refuse(
          'invalid_request',
          'workspace_ids: one of them is not a workspace of this installation. Use ids from GET platform/workspaces.',
        )
      const row = await insertBroadcast(tx.db, {
        id: tx.uuid(),
        title,
        text,
        severity,
        workspace_ids: to,
        created_by: operatorOf(tx).userId,
        created_at: new Date(now),
        ends_at: endsAt,
      })
      await auditInstallation(tx, {
        action: 'create_broadcast',
        target: encodeId('broadcast', row.id),
        details: { title, severity, workspaces: to?.length ?? null },
      })
      return { broadcast: present(row, now) }
    })
  },

  withdraw: (ctx, { id }) =>
    inTransaction(ctx, async (tx) => {
      const now = tx.clock.now()
      const held = await lockBroadcast(tx.db, id)
      if (held === undefined) throw refuse('not_found')
      if (held.withdrawn_at !== null) return { broadcast: present(held, now) }
      const row = await setWithdrawn(tx.db, { id, now: new Date(now) })
      await auditInstallation(tx, {
        action: 'withdraw_broadcast',
        target: encodeId('broadcast', id),
        details: { title: row.title },
      })
      return { broadcast: present(row, now) }
    }),
}

function present(row: BroadcastRow, now: number) {
  return {
    ...presentBroadcast(row, now),
    workspace_ids: row.workspace_ids?.map((id) => encodeId('workspace', id)) ?? null,
    created_by: encodeId('user', row.created_by),
    withdrawn_at: row.withdrawn_at?.toISOString() ?? null,
  }
}
