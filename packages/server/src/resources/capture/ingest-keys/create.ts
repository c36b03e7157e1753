import { encodeId, SECRET_PREFIXES } from '@postroad/contract'
import { hashCredential } from '../../../platform/cipher.ts'
import { inTransaction } from '../../../transaction.ts'
import { audit } from '../../workspace/audit/index.ts'
import { insertCredential } from '../credentials/index.ts'
import { configChanged } from '../../workspace/projects/index.ts'
import { mintSecret, mintSigningSecret } from '../../mint.ts'
import type { Room } from '../../verbs.ts'
import { presentIngestKey } from './present.ts'
import { insertIngestKey } from './queries.ts'
import { sealSigningSecret } from './signing-secret.ts'

const SHOWN_CHARS = SECRET_PREFIXES.ingestKey.length + 4

/** Creates a key. Its text is stored nowhere; its signing secret is stored sealed. The response shows both only once. */
export const create: Room<'ingestKeys'>['create'] = (ctx, { require_signature, ...settings }) =>
  inTransaction(ctx, async (tx) => {
    const key = mintSecret(tx, 'ingestKey')
    const id = tx.uuid()
    const secret = require_signature ? mintSigningSecret(tx) : undefined
    const row = await insertIngestKey(tx.db, {
      ...tx,
      ...settings,
      id,
      shown_prefix: key.slice(0, SHOWN_CHARS),
      scopes: [...new Set(settings.scopes)],
      signing_secret: secret === undefined ? null : sealSigningSecret(tx, { id, secret }),
      now: new Date(tx.clock.now()),
    })
    await insertCredential(tx.db, { ...tx, hash: hashCredential(key), kind: 'ingest_key', subjectId: id })
    await audit(tx, {
      action: 'create_ingest_key',
      target: encodeId('ingestKey', id),
      details: { name: row.name },
      change: { before: null, after: presentIngestKey(tx, row) },
    })
    await configChanged(tx)
    return { ingest_key: presentIngestKey(tx, row), key, ...(secret === undefined ? {} : { signing_secret: secret }) }
  })
