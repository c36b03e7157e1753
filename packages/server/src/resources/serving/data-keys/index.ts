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
import { lockProject } from '../../workspace/projects/index.ts'
import type { Room } from '../../verbs.ts'
import { presentDataKey } from './present.ts'
import { countDataKeys, deleteDataKey, findDataKey, insertDataKey, listDataKeys, updateDataKey } from './queries.ts'

export { identifyDataKey, noteDataKeyUse, type DataReader } from './identify.ts'

const SHOWN_CHARS = SECRET_PREFIXES.dataKey.length + 8

export const dataKeys: Room<'dataKeys'> = {
  list: async (ctx, { limit, cursor }) => {
    const found = await listDataKeys(ctx.db, { ...ctx, before: afterCursor(cursor), limit: limit + 1 })
    const { rows, next_cursor } = pageOf(found, limit)
    return { data_keys: rows.map((row) => presentDataKey(ctx, row)), next_cursor }
  },

  create: (ctx, settings) =>
    inTransaction(ctx, async (tx) => {
      requireLater(tx, settings.expires_at)
      await lockProject(tx.db, tx)
      if ((await countDataKeys(tx.db, tx)) >= LIMITS.dataKeysPerProjectMax) throw refuse('data_key_limit_reached')
      const key = mintSecret(tx, 'dataKey')
      const id = tx.uuid()
      const row = await insertDataKey(tx.db, {
        ...tx,
        ...settings,
        id,
        shown_prefix: key.slice(0, SHOWN_CHARS),
        created_by: creatorOf(tx.actor),
        now: new Date(tx.clock.now()),
      })
      await insertCredential(tx.db, { ...tx, hash: hashCredential(key), kind: 'data_key', subjectId: id })
      await audit(tx, {
        action: 'create_data_key',
        target: encodeId('dataKey', id),
        details: { name: row.name, datasets: row.datasets },
        change: { before: null, after: presentDataKey(tx, row) },
      })
      return { data_key: presentDataKey(tx, row), key }
    }),

  get: async (ctx, { id }) => {
    const row = await findDataKey(ctx.db, { ...ctx, id })
    if (row === undefined) throw refuse('not_found')
    return { data_key: presentDataKey(ctx, row) }
  },

  update: (ctx, { id, ...given }) =>
    inTransaction(ctx, async (tx) => {
      requireLater(tx, given.expires_at)
      const held = await findDataKey(tx.db, { ...tx, id, lock: true })
      if (held === undefined) throw refuse('not_found')
      const row = await updateDataKey(tx.db, { ...tx, id, given, now: new Date(tx.clock.now()) })
      if (row === undefined) throw refuse('not_found')
      await audit(tx, {
        action: 'update_data_key',
        target: encodeId('dataKey', id),
        details: { changed: Object.keys(given) },
        change: { before: presentDataKey(tx, held), after: presentDataKey(tx, row) },
      })
      return { data_key: presentDataKey(tx, row) }
    }),

  remove: (ctx, { id }) =>
    inTransaction(ctx, async (tx) => {
      const held = await findDataKey(tx.db, { ...tx, id, lock: true })
      if (held === undefined) throw refuse('not_found')
      await deleteDataKey(tx.db, { ...tx, id })
      await deleteCredentialsOf(tx.db, { ...tx, subjectId: id })
      await audit(tx, {
        action: 'revoke_data_key',
        target: encodeId('dataKey', id),
        change: { before: presentDataKey(tx, held), after: null },
      })
      return { ok: true }
    }),
}

function requireLater({ clock }: Pick<Ctx, 'clock'>, expiresAt: Date | null | undefined): void {
  if (expiresAt instanceof Date && expiresAt.getTime() <= clock.now())
    throw refuse('invalid_request', 'expires_at must be in the future, or null for a key that never expires.')
}
