import { encodeId } from '@postroad/contract'
import type { Ctx } from '../../../context.ts'
import { refuse } from '../../../domain/refusal.ts'
import { inTransaction } from '../../../transaction.ts'
import { audit } from '../../workspace/audit/index.ts'
import { afterCursor, pageOf } from '../../page.ts'
import type { Room } from '../../verbs.ts'
import { accept } from './accept.ts'
import { create } from './create.ts'
import { presentInvite } from './present.ts'
import { countPendingInvites, deleteInvite, findInvite, listInvites } from './queries.ts'
import { resend } from './resend.ts'

export { isInvited } from './queries.ts'

/** Invites that can still be accepted. They count against the members of the plan. */
export function countPending({ db, workspaceId, clock }: Pick<Ctx, 'db' | 'workspaceId' | 'clock'>): Promise<number> {
  return countPendingInvites(db, { workspaceId, email: '', now: new Date(clock.now()) })
}

export const invites: Room<'invites'> = {
  list: async (ctx, { limit, cursor }) => {
    const found = await listInvites(ctx.db, {
      workspaceId: ctx.workspaceId,
      before: afterCursor(cursor),
      limit: limit + 1,
    })
    const { rows, next_cursor } = pageOf(found, limit)
    return { invites: rows.map((row) => presentInvite(ctx, row)), next_cursor }
  },

  create,

  remove: (ctx, { id }) =>
    inTransaction(ctx, async (tx) => {
      const at = { workspaceId: tx.workspaceId, id }
      const row = await findInvite(tx.db, at)
      if (row === undefined || (await deleteInvite(tx.db, at)) === 0) throw refuse('not_found')
      await audit(tx, { action: 'revoke_invite', target: encodeId('invite', id), details: { email: row.email } })
      return { ok: true }
    }),

  resend,

  accept,
}
