import { encodeId } from '@postroad/contract'
import { refuse } from '../../../domain/refusal.ts'
import { inTransaction } from '../../../transaction.ts'
import { audit } from '../../workspace/audit/index.ts'
import { deleteCredentialsOf } from '../credentials/index.ts'
import { afterCursor, pageOf } from '../../page.ts'
import { configChanged } from '../../workspace/projects/index.ts'
import type { Room } from '../../verbs.ts'
import { create } from './create.ts'
import { presentIngestKey } from './present.ts'
import { findIngestKey, listIngestKeys, revokeIngestKey } from './queries.ts'
import { rotateSigningSecret } from './signing-secret.ts'
import { update } from './update.ts'

export const ingestKeys: Room<'ingestKeys'> = {
  list: async (ctx, { limit, cursor }) => {
    const found = await listIngestKeys(ctx.db, { ...ctx, before: afterCursor(cursor), limit: limit + 1 })
    const { rows, next_cursor } = pageOf(found, limit)
    return { ingest_keys: rows.map((row) => presentIngestKey(ctx, row)), next_cursor }
  },

  create,

  get: async (ctx, { id }) => {
    const row = await findIngestKey(ctx.db, { ...ctx, id })
    if (row === undefined) throw refuse('not_found')
    return { ingest_key: presentIngestKey(ctx, row) }
  },

  update,

  rotateSigningSecret,

  remove: (ctx, { id }) =>
    inTransaction(ctx, async (tx) => {
      const held = await findIngestKey(tx.db, { ...tx, id, lock: true })
      if (held === undefined) throw refuse('not_found')
      if ((await revokeIngestKey(tx.db, { ...tx, id, now: new Date(tx.clock.now()) })) === 0) throw refuse('not_found')
      await deleteCredentialsOf(tx.db, { ...tx, subjectId: id })
      await audit(tx, {
        action: 'revoke_ingest_key',
        target: encodeId('ingestKey', id),
        change: { before: presentIngestKey(tx, held), after: null },
      })
      await configChanged(tx)
      return { ok: true }
    }),
}
