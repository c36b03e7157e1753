import { encodeId } from '@postroad/contract'
import type { Ctx } from '../../../context.ts'
import { refuse } from '../../../domain/refusal.ts'
import { findPublicSuffix } from '../../../domain/public-suffix.ts'
import { inTransaction } from '../../../transaction.ts'
import { afterCursor, pageOf } from '../../page.ts'
import type { Room } from '../../verbs.ts'
import { audit } from '../../workspace/audit/index.ts'
import { lockWorkspaceById } from '../../workspace/workspaces/index.ts'
import { presentRequest, refusedAs } from './present.ts'
import {
  lockRequest,
  insertRequest,
  listRequests,
  setCanceled,
  supersedePending,
  type SsoRequestRow,
} from './queries.ts'

export { decideRequest } from './decide.ts'
export { presentRequest } from './present.ts'
export { listRequestsOfAll, type AnySsoRequestRow } from './queries.ts'

/** The newest request for single sign-on; null: there is none. */
export async function newestSsoRequest({ db, workspaceId }: Ctx) {
  const [row] = await listRequests(db, { workspaceId, kind: 'sso', before: null, limit: 1 })
  return row === undefined ? null : presentRequest(row)
}

/** Requests for single sign-on, organizations and Google Workspaces (contract part 3): pending, then approved or declined by an operator, canceled by an owner, or superseded. */
export const ssoRequests: Room<'ssoRequests'> = {
  list: async (ctx, { limit, cursor }) => {
    const found = await listRequests(ctx.db, {
      workspaceId: ctx.workspaceId,
      kind: null,
      before: afterCursor(cursor),
      limit: limit + 1,
    })
    const { rows, next_cursor } = pageOf(found, limit)
    return { requests: rows.map(presentRequest), next_cursor }
  },

  create: (ctx, asked) => requested(ctx, { ...asked, action: 'create_sso_request' }),
  requestOrganization: (ctx, asked) =>
    requested(ctx, { ...asked, kinds: ['organization'], action: 'request_organization' }),
  linkGoogleWorkspace: (ctx, asked) =>
    requested(ctx, { ...asked, kinds: ['google_workspace'], action: 'link_google_workspace' }),

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

type Asked = {
  readonly kinds: SsoRequestRow['kinds']
  readonly domains: readonly string[]
  readonly note: string | null
  readonly action: string
}

/** One request of a kind is pending at a time: under the lock of the workspace, a newer one supersedes the older one. */
async function requested(ctx: Ctx, { kinds, domains, note, action }: Asked) {
  const open = await findPublicSuffix(domains)
  if (open !== undefined)
    throw refuse(
      'invalid_request',
      `domains: anyone can register a name below "${open}". Name the domain of your company, such as example.com.`,
    )
  return inTransaction(ctx, async (tx) => {
    const { workspaceId, actor } = tx
    if (!('userId' in actor)) throw refuse('unauthorized')
    await lockWorkspaceById(tx.db, workspaceId)
    const supersedes = await supersedePending(tx.db, { workspaceId, kinds })
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
    const request = presentRequest(row)
    await audit(tx, {
      action,
      target: request.id,
      details: {
        kinds,
        domains: request.domains,
        ...(supersedes === null ? {} : { supersedes: encodeId('ssoRequest', supersedes) }),
      },
      change: { before: null, after: { status: row.status, domains: request.domains } },
    })
    return { request }
  })
}
