import { encodeId, LIMITS, SECRET_PREFIXES } from '@postroad/contract'
import type { Ctx } from '../../../context.ts'
import { creatorOf } from '../../../domain/people/actor.ts'
import { refuse } from '../../../domain/refusal.ts'
import { hashCredential } from '../../../platform/cipher.ts'
import { inTransaction } from '../../../transaction.ts'
import { deleteCredentialsOf, insertCredential } from '../../capture/credentials/index.ts'
import { mintSecret } from '../../mint.ts'
import { afterCursor, pageOf } from '../../page.ts'
import { audit } from '../../workspace/audit/index.ts'
import type { Room } from '../../verbs.ts'
import { customerFor } from '../portal-customers/index.ts'
import { findPortal, portalUrl } from '../portals/index.ts'
import { deleteExpiredTokens, deleteToken, findToken, insertToken, listTokens, type TokenRow } from './queries.ts'

export { touchToken } from './queries.ts'

const SHOWN_CHARS = SECRET_PREFIXES.portalToken.length + 8

/** Row → public shape, without the token. */
const present = ({ clock }: Pick<Ctx, 'clock'>, row: TokenRow) => ({
  id: encodeId('portalToken', row.id),
  customer: { id: encodeId('customer', row.portal_customer_id), customer_id: row.customer_id, name: row.customer_name },
  shown_prefix: row.shown_prefix,
  status: row.expires_at.getTime() <= clock.now() ? ('expired' as const) : ('active' as const),
  expires_at: row.expires_at.toISOString(),
  last_used_at: row.last_used_at?.toISOString() ?? null,
  created_by: row.created_by === null ? null : encodeId('user', row.created_by),
  created_at: row.created_at.toISOString(),
})

export const portalTokens: Room<'portalTokens'> = {
  list: async (ctx, { id, limit, cursor, customer }) => {
    if ((await findPortal(ctx.db, { ...ctx, id })) === undefined) throw refuse('not_found')
    const asked = { portalId: id, customer: customer ?? null, before: afterCursor(cursor), limit: limit + 1 }
    const { rows, next_cursor } = pageOf(await listTokens(ctx.db, { ...ctx, ...asked }), limit)
    return { portal_tokens: rows.map((row) => present(ctx, row)), next_cursor }
  },

  create: (ctx, { id: portalId, customer_id, customer_name, expires_in }) =>
    inTransaction(ctx, async (tx) => {
      const portal = await findPortal(tx.db, { ...tx, id: portalId, lock: true })
      if (portal === undefined) throw refuse('not_found')
      const customer = await customerFor(tx, portal, { customer_id, name: customer_name })
      const now = new Date(tx.clock.now())
      if (customer.token_count >= LIMITS.tokensPerCustomerMax) throw refuse('portal_token_limit_reached')
      await deleteExpiredTokens(tx.db, { ...tx, customer: customer.id, now })
      const token = mintSecret(tx, 'portalToken')
      const id = tx.uuid()
      await insertToken(tx.db, {
        ...tx,
        id,
        portal_id: portalId,
        portal_customer_id: customer.id,
        shown_prefix: token.slice(0, SHOWN_CHARS),
        expires_at: new Date(now.getTime() + expires_in * 1_000),
        created_by: creatorOf(tx.actor),
        now,
      })
      await insertCredential(tx.db, { ...tx, hash: hashCredential(token), kind: 'portal_token', subjectId: id })
      const row = await findToken(tx.db, { ...tx, id })
      if (row === undefined) throw refuse('not_found')
      await audit(tx, {
        action: 'create_portal_token',
        target: encodeId('portalToken', id),
        details: { portal: encodeId('portal', portalId), customer_id, expires_at: row.expires_at.toISOString() },
        change: { before: null, after: present(tx, row) },
      })
      const url = `${portalUrl(tx, portalId)}#t=${token}`
      return { portal_token: present(tx, row), token, url, expires_at: row.expires_at.toISOString() }
    }),

  remove: (ctx, { id: portalId, token: id }) =>
    inTransaction(ctx, async (tx) => {
      const held = await findToken(tx.db, { ...tx, id })
      if (held === undefined || (await deleteToken(tx.db, { ...tx, portalId, id })) === 0) throw refuse('not_found')
      await deleteCredentialsOf(tx.db, { ...tx, subjectId: id })
      await audit(tx, {
        action: 'revoke_portal_token',
        target: encodeId('portalToken', id),
        change: { before: present(tx, held), after: null },
      })
      return { ok: true }
    }),
}
