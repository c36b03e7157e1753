import { encodeId } from '@postroad/contract'
import { refuse } from '../../../domain/refusal.ts'
import { inTransaction } from '../../../transaction.ts'
import { afterCursor, pageOf } from '../../page.ts'
import type { Room } from '../../verbs.ts'
import { audit } from '../../workspace/audit/index.ts'
import { lockWorkspaceById } from '../../workspace/workspaces/index.ts'
import { presentRequest, refusedAs } from './present.ts'
import { lockRequest, insertRequest, listRequests, setCanceled, supersedePending } from './queries.ts'

export { decideRequest } from './decide.ts'
export { presentRequest } from './present.ts'
export { listRequestsOfAll, type AnySsoRequestRow } from './queries.ts'

/** Requests for single sign-on (contract part 3): pending, then approved or declined by an operator, canceled by an owner, or superseded. */
export const ssoRequests: Room<'ssoRequests'> = {
  list: async (ctx, { limit, cursor }) => {
    const found = await listRequests(ctx.db, { ...ctx, before: afterCursor(cursor), limit: limit + 1 })
    const { rows, next_cursor } = pageOf(found, limit)
    return { requests: rows.map(presentRequest), next_cursor }
  },

  /** One request is pending at a time: under the lock of the workspace, a newer one supersedes the older one. */
  create: (ctx, { kinds, domains, note }) =>
    inTransaction(ctx, async (tx) => {
      const { workspaceId, actor } = tx
      if (!('userId' in actor)) throw refuse('unauthorized')
      await lockWorkspaceById(tx.db, workspaceId)
      const supersedes = await supersedePending(tx.db, workspaceId)
      const row = await insertRequest(tx.db, {
        workspaceId,
        id: tx.uuid(),
        kinds,
        domains: [...new Set(domains)],
        note: note === '' ? null : note,
        userId: actor.userId,
        now: new Date(tx.clock.now()),
        supersedes,
      })
      const { id, domains: asked } = presentRequest(row)
      await audit(tx, {
        action: 'create_sso_request',
        target: id,
        details: {
          domains: asked,
          ...(supersedes === null ? {} : { supersedes: encodeId('ssoRequest', supersedes) }),
        },
        change: { before: null, after: { status: row.status, domains: asked } },
      })
      return { request: presentRequest(row) }
    }),

  cancel: (ctx, { id }) =>
    inTransaction(ctx, async (tx) => {
      const held = await lockRequest(tx.db, { ...tx, id })
      if (held === undefined) throw refuse('not_found')
      if (held.status !== 'pending') throw refusedAs(held.status)
      const row = await setCanceled(tx.db, { ...tx, id })
      await audit(tx, {
        action: 'cancel_sso_request',
        target: encodeId('ssoRequest', id),
        change: { before: { status: held.status }, after: { status: row.status } },
      })
      return { ok: true, request: presentRequest(row) }
    }),
}
