import { encodeId, SECRET_PREFIXES } from '@postroad/contract'
import { refuse } from '../../domain/refusal.ts'
import { hashCredential } from '../../platform/cipher.ts'
import { inTransaction } from '../../transaction.ts'
import { audit } from '../audit/index.ts'
import { deleteCredentialsOf, insertCredential } from '../credentials/index.ts'
import { afterCursor, pageOf } from '../page.ts'
import { configChanged } from '../projects/index.ts'
import type { Room } from '../verbs.ts'
import { insertIngestKey, listIngestKeys, revokeIngestKey, type IngestKeyRow } from './queries.ts'

const SHOWN_CHARS = SECRET_PREFIXES.ingestKey.length + 4

const present = (row: IngestKeyRow) => ({
  id: encodeId('ingestKey', row.id),
  name: row.name,
  shown_prefix: row.shown_prefix,
  ip_allowlist: [...row.ip_allowlist],
  created_at: row.created_at.toISOString(),
})

export const ingestKeys: Room<'ingestKeys'> = {
  list: async (ctx, { limit, cursor }) => {
    const found = await listIngestKeys(ctx.db, { ...ctx, before: afterCursor(cursor), limit: limit + 1 })
    const { rows, next_cursor } = pageOf(found, limit)
    return { ingest_keys: rows.map(present), next_cursor }
  },

  create: (ctx, { name, ip_allowlist: ipAllowlist }) =>
    inTransaction(ctx, async (tx) => {
      const key = SECRET_PREFIXES.ingestKey + tx.randomText(43)
      const id = tx.uuid()
      const row = await insertIngestKey(tx.db, { ...tx, id, name, shownPrefix: key.slice(0, SHOWN_CHARS), ipAllowlist, now: new Date(tx.clock.now()) })
      await insertCredential(tx.db, { ...tx, hash: hashCredential(key), kind: 'ingest_key', subjectId: id })
      await audit(tx, { action: 'create_ingest_key', target: encodeId('ingestKey', id), details: { name } })
      await configChanged(tx)
      return { ingest_key: present(row), key }
    }),

  remove: (ctx, { id }) =>
    inTransaction(ctx, async (tx) => {
      if ((await revokeIngestKey(tx.db, { ...tx, id, now: new Date(tx.clock.now()) })) === 0) throw refuse('not_found')
      await deleteCredentialsOf(tx.db, { ...tx, subjectId: id })
      await audit(tx, { action: 'revoke_ingest_key', target: encodeId('ingestKey', id) })
      await configChanged(tx)
      return { ok: true }
    }),
}
