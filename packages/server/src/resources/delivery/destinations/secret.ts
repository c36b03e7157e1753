import { encodeId } from '@postroad/contract'
import type { Ctx } from '../../../context.ts'
import { refuse } from '../../../domain/refusal.ts'
import { secretPlace } from '../../secret-place.ts'
import { rotated } from '../../../domain/delivery/signing-secrets.ts'
import { inTransaction } from '../../../transaction.ts'
import { audit } from '../../workspace/audit/index.ts'
import { mintSigningKey, mintSigningSecret } from '../../mint.ts'
import { checkOverlap, overlapEnd } from '../../overlap.ts'
import type { Room } from '../../verbs.ts'
import { presentDestination } from './present.ts'
import { findDestination, lockSecret, replaceSecret } from './queries.ts'

type Verbs = Room<'destinations'>

/** Shows the secret to a person. The audit log records who saw it. */
export const revealSecret: Verbs['revealSecret'] = (ctx, { id }) =>
  inTransaction(ctx, async (tx) => {
    const held = await lockSecret(tx.db, { ...tx, id })
    const row = await findDestination(tx.db, { ...tx, id })
    if (held === undefined || row === undefined) throw refuse('not_found')
    await audit(tx, { action: 'reveal_signing_secret', target: encodeId('destination', id) })
    return {
      destination: presentDestination(tx, row),
      signing_secret: tx.cipher.open(held.secret, secretPlace('destinations.secret', id)).reveal(),
    }
  })

/** Replaces the signing secret. The previous one also signs until its deadline. An even older one ends now, if the caller agrees. */
export const rotateSecret: Verbs['rotateSecret'] = (ctx, { id, overlap_hours, end_overlap: mayEnd }) =>
  inTransaction(ctx, async (tx) => {
    const held = await lockSecret(tx.db, { ...tx, id })
    if (held === undefined) throw refuse('not_found')
    checkOverlap(tx, { what: 'secret', until: held.previous_secret_expires_at, mayEnd })
    const current = tx.cipher.open(held.secret, secretPlace('destinations.secret', id)).reveal()
    const [secret, end] = [mintSigningSecret(tx), overlapEnd(tx, overlap_hours)]
    const { previous } = rotated({ current, previous: null }, { secret, until: end?.getTime() ?? null })
    const row = await replaceSecret(tx.db, {
      ...tx,
      id,
      secret: tx.cipher.seal(secret, secretPlace('destinations.secret', id)),
      previous_secret:
        previous === null ? null : tx.cipher.seal(previous.value, secretPlace('destinations.previous_secret', id)),
      ...rotatedKey(tx, { id, held: held.signing_key, overlaps: end !== null }),
      previous_secret_expires_at: end,
      now: new Date(tx.clock.now()),
    })
    if (row === undefined) throw refuse('not_found')
    await audit(tx, {
      action: 'rotate_signing_secret',
      target: encodeId('destination', id),
      details: { overlap_hours, previous_secret_expires_at: end?.toISOString() ?? null },
    })
    const lane = { workspaceId: tx.workspaceId, destinationId: id }
    tx.afterCommit(() => tx.lanesChanged({ lanes: [lane], disabled: false }))
    return { destination: presentDestination(tx, row), signing_secret: secret }
  })

type Keyed = { readonly id: string; readonly held: Buffer | null; readonly overlaps: boolean }

/** The ed25519 key is replaced with the secret, with the same overlap. Its bytes are bound to their column, so they are sealed again. */
function rotatedKey({ cipher, randomBytes }: Pick<Ctx, 'cipher' | 'randomBytes'>, { id, held, overlaps }: Keyed) {
  if (held === null) return { signing_key: null, previous_signing_key: null }
  const [place, before] = [
    secretPlace('destinations.signing_key', id),
    secretPlace('destinations.previous_signing_key', id),
  ]
  return {
    signing_key: cipher.seal(mintSigningKey({ randomBytes }), place),
    previous_signing_key: overlaps ? cipher.seal(cipher.open(held, place).reveal(), before) : null,
  }
}
