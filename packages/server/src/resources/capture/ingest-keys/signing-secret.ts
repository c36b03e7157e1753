import { encodeId } from '@postroad/contract'
import type { Ctx } from '../../../context.ts'
import { refuse } from '../../../domain/refusal.ts'
import { secretPlace } from '../../secret-place.ts'
import { inTransaction } from '../../../transaction.ts'
import { audit } from '../../workspace/audit/index.ts'
import { checkOverlap, overlapEnd } from '../../overlap.ts'
import { configChanged } from '../../workspace/projects/index.ts'
import { mintSigningSecret } from '../../mint.ts'
import type { Room } from '../../verbs.ts'
import { presentIngestKey } from './present.ts'
import { findIngestKey, updateIngestKey } from './queries.ts'

export function sealSigningSecret(ctx: Ctx, of: { readonly id: string; readonly secret: string }): Buffer {
  return ctx.cipher.seal(of.secret, secretPlace('ingest_keys.signing_secret', of.id))
}

/** Replaces the signing secret. The previous one verifies until its deadline. An older one ends now, if the caller agrees. */
export const rotateSigningSecret: Room<'ingestKeys'>['rotateSigningSecret'] = (
  ctx,
  { id, secret: sent, overlap_hours, end_overlap: mayEnd },
) =>
  inTransaction(ctx, async (tx) => {
    const held = await findIngestKey(tx.db, { ...tx, id, lock: true })
    if (held === undefined) throw refuse('not_found')
    if (held.signing_secret === null)
      throw refuse(
        'invalid_request',
        'This key does not require signatures, so it has no secret to replace. Set "require_signature" to true to get one.',
      )
    checkOverlap(tx, { what: 'secret', until: held.previous_signing_secret_expires_at, mayEnd })
    const secret = sent ?? mintSigningSecret(tx)
    const end = overlapEnd(tx, overlap_hours)
    const previous = tx.cipher.open(held.signing_secret, secretPlace('ingest_keys.signing_secret', id)).reveal()
    const row = await updateIngestKey(tx.db, {
      ...tx,
      ...held,
      signing_secret: sealSigningSecret(tx, { id, secret }),
      previous_signing_secret:
        end === null ? null : tx.cipher.seal(previous, secretPlace('ingest_keys.previous_signing_secret', id)),
      previous_signing_secret_expires_at: end,
      now: new Date(tx.clock.now()),
    })
    if (row === undefined) throw refuse('not_found')
    await audit(tx, {
      action: 'rotate_signing_secret',
      target: encodeId('ingestKey', id),
      details: { overlap_hours, previous_signing_secret_expires_at: end?.toISOString() ?? null },
      change: { before: presentIngestKey(tx, held), after: presentIngestKey(tx, row) },
    })
    await configChanged(tx)
    return { ingest_key: presentIngestKey(tx, row), ...(sent === undefined ? { signing_secret: secret } : {}) }
  })
