import { encodeId } from '@postroad/contract'
import { refuse } from '../../domain/refusal.ts'
import { inTransaction } from '../../transaction.ts'
import { audit } from '../audit/index.ts'
import { afterCursor, pageOf } from '../page.ts'
import type { Room } from '../verbs.ts'
import { create } from './create.ts'
import { presentApiKey } from './present.ts'
import { findApiKey, listApiKeys, revokeApiKey } from './queries.ts'

export { admitApiKey, identifyApiKey, type Identified } from './identify.ts'
export { mintApiKey } from './mint.ts'
export { revokeApiKeysOf } from './queries.ts'

export const apiKeys: Room<'apiKeys'> = {
  list: async (ctx, { limit, cursor }) => {
    const found = await listApiKeys(ctx.db, { ...ctx, before: afterCursor(cursor), limit: limit + 1 })
    const { rows, next_cursor } = pageOf(found, limit)
    return { api_keys: rows.map((row) => presentApiKey(ctx, row)), next_cursor }
  },

  create,

  /** The row of the key stays: whoever uses it is told that it was revoked. */
  remove: (ctx, { id }) =>
    inTransaction(ctx, async (tx) => {
      if ((await findApiKey(tx.db, { ...tx, id })) === undefined) throw refuse('not_found')
      const revoked = await revokeApiKey(tx.db, { ...tx, id, now: new Date(tx.clock.now()) })
      if (revoked > 0) await audit(tx, { action: 'revoke_api_key', target: encodeId('apiKey', id) })
      return { ok: true }
    }),
}
