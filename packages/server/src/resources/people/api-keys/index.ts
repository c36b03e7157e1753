import { afterCursor, pageOf } from '../../page.ts'
import type { Room } from '../../verbs.ts'
import { create } from './create.ts'
import { presentApiKey } from './present.ts'
import { listApiKeys } from './queries.ts'
import { remove } from './revoke.ts'

export { admitApiKey, identifyApiKey, type Identified } from './identify.ts'
export { mintApiKey } from './mint.ts'
export { removeExpiredKeysOf, revokeApiKeysFrom, revokeApiKeysOf } from './revoke.ts'

export const apiKeys: Room<'apiKeys'> = {
  list: async (ctx, { limit, cursor }) => {
    const found = await listApiKeys(ctx.db, { ...ctx, before: afterCursor(cursor), limit: limit + 1 })
    const { rows, next_cursor } = pageOf(found, limit)
    return { api_keys: rows.map((row) => presentApiKey(ctx, row)), next_cursor }
  },

  create,

  remove,
}
