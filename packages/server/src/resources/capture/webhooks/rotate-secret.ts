import { encodeId, VerificationPatch, type VerificationScheme, type VerificationSettings } from '@postroad/contract'
import type { Ctx } from '../../../context.ts'
import { refuse } from '../../../domain/refusal.ts'
import { secretPlace } from '../../secret-place.ts'
import { validateSecretForm } from '../../../domain/signature/index.ts'
import { inTransaction } from '../../../transaction.ts'
import { audit } from '../../workspace/audit/index.ts'
import { configChanged } from '../../workspace/projects/index.ts'
import { mintSecret, mintSigningSecret } from '../../mint.ts'
import { checkOverlap, overlapEnd } from '../../overlap.ts'
import type { Room } from '../../verbs.ts'
import { presentWebhook } from './present.ts'
import { findWebhook, rotateSecret, type WebhookRow } from './queries.ts'
import { urlParts } from './url-parts.ts'

/** Replaces the verification secret. The previous one verifies until its deadline. An older one ends now, if the caller agrees. */
export const rotateVerificationSecret: Room<'webhooks'>['rotateVerificationSecret'] = (
  ctx,
  { id, secret: sent, overlap_hours, end_overlap: mayEnd },
) =>
  inTransaction(ctx, async (tx) => {
    const held = await findWebhook(tx.db, { ...tx, id, lock: true })
    if (held === undefined) throw refuse('not_found')
    const { verification } = held
    if (verification.scheme === 'none') {
      throw refuse(
        'invalid_request',
        'This endpoint requires no signature, so it has no secret to replace. Change the endpoint to set a scheme with its secret.',
      )
    }
    if (sent !== undefined) withSecret(verification, sent)
    checkOverlap(tx, { what: 'secret', until: held.previous_secret_expires_at, mayEnd })
    const secret = sent ?? mintSecretOf(tx, verification.scheme)
    const end = held.secret === null ? null : overlapEnd(tx, overlap_hours)
    const row = await rotateSecret(tx.db, {
      ...tx,
      id,
      secret: tx.cipher.seal(secret, secretPlace('webhooks.secret', id)),
      previous_secret: end === null ? null : previousSecret(tx, held),
      previous_secret_expires_at: end,
      now: new Date(tx.clock.now()),
    })
    if (row === undefined) throw refuse('not_found')
    const after = endsAt(end)
    await audit(tx, {
      action: 'rotate_verification_secret',
      target: encodeId('webhook', id),
      details: { overlap_hours, ...after },
      change: { before: endsAt(held.previous_secret_expires_at), after },
    })
    await configChanged(tx)
    const webhook = presentWebhook(tx, row, await urlParts(tx))
    return sent === undefined ? { webhook, verification_secret: secret } : { webhook }
  })

const endsAt = (end: Date | null) => ({ previous_secret_expires_at: end?.toISOString() ?? null })

/** Refuses a secret that no request could match. */
export function checkSecret(settings: VerificationSettings, secret: string | undefined): void {
  const why = secret === undefined ? undefined : validateSecretForm(settings, secret)
  if (why !== undefined) throw refuse('invalid_request', `verification.secret: ${why}`)
}

/** A verification with a secret that fits its scheme. Refuses a secret that a change would refuse. */
export function withSecret(verification: VerificationSettings, secret: string): VerificationPatch {
  // The stored settings are not checked again, because the rules for names may have become stricter.
  const read = VerificationPatch.safeParse({ scheme: verification.scheme, secret })
  if (!read.success)
    throw refuse('invalid_request', `secret: ${read.error.issues[0]?.message ?? 'The secret does not fit the scheme.'}`)
  checkSecret(verification, secret)
  return verification.scheme === 'none' ? verification : { ...verification, secret }
}

/** Schemes whose secret has a form of the sender, so this server cannot mint it. */
const FORMED: ReadonlySet<VerificationScheme> = new Set(['custom_hmac', 'public_key', 'basic_auth'])

/** 256 bits, in the form that senders with this scheme use. */
function mintSecretOf(ctx: Ctx, scheme: VerificationScheme): string {
  if (FORMED.has(scheme)) {
    throw refuse(
      'invalid_request',
      `The scheme ${scheme} needs the secret of the sender, so Postroad cannot generate one; send "secret".`,
    )
  }
  if (scheme === 'standard_webhooks') return mintSigningSecret(ctx)
  return scheme === 'payments_provider' ? mintSecret(ctx, 'signingSecret') : mintSecret(ctx)
}

function previousSecret(tx: Ctx, { id, secret }: WebhookRow): Buffer | null {
  if (secret === null) return null
  return tx.cipher.seal(
    tx.cipher.open(secret, secretPlace('webhooks.secret', id)).reveal(),
    secretPlace('webhooks.previous_secret', id),
  )
}
