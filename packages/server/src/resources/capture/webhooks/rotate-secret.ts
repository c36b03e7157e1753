import { encodeId, VerificationPatch, type VerificationScheme, type VerificationSettings } from '@postroad/contract'
import type { Ctx } from '../../../context.ts'
import { refuse } from '../../../domain/refusal.ts'
import { secretPlace } from '../../../domain/secret-place.ts'
import { inTransaction } from '../../../transaction.ts'
import { audit } from '../../workspace/audit/index.ts'
import { configChanged } from '../../workspace/projects/index.ts'
import { mintSecret, mintSigningSecret } from '../../mint.ts'
import { checkOverlap, overlapEnd } from '../../overlap.ts'
import type { Room } from '../../verbs.ts'
import { presentWebhook } from './present.ts'
import { findWebhook, rotateSecret, type WebhookRow } from './queries.ts'
import { urlParts } from './url-parts.ts'

/** A new verification secret. The previous one verifies until its deadline; an older one ends here, if the caller agrees. */
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
        'This endpoint asks for no signature, so it has no secret to replace. Set a scheme with its secret by a change of the endpoint.',
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
      previous_secret: end === null ? null : formerSecret(tx, held),
      previous_secret_expires_at: end,
      now: new Date(tx.clock.now()),
    })
    if (row === undefined) throw refuse('not_found')
    await audit(tx, {
      action: 'rotate_verification_secret',
      target: encodeId('webhook', id),
      details: { overlap_hours, previous_secret_expires_at: end?.toISOString() ?? null },
    })
    await configChanged(tx)
    const webhook = presentWebhook(tx, row, await urlParts(tx))
    return sent === undefined ? { webhook, verification_secret: secret } : { webhook }
  })

/** A verification with a secret that fits its scheme; refuses one that does not, by the rules of a change. */
export function withSecret(verification: VerificationSettings, secret: string): VerificationPatch {
  // What is held is not judged again: the rules of names may have become stricter since.
  const read = VerificationPatch.safeParse({ scheme: verification.scheme, secret })
  if (!read.success)
    throw refuse('invalid_request', `secret: ${read.error.issues[0]?.message ?? 'The secret does not fit the scheme.'}`)
  return { ...verification, ...read.data }
}

/** 256 bits, in the form that senders of the scheme know. */
function mintSecretOf(ctx: Ctx, scheme: VerificationScheme): string {
  switch (scheme) {
    case 'standard_webhooks':
      return mintSigningSecret(ctx)
    case 'payments_provider':
      return mintSecret(ctx, 'signingSecret')
    case 'none':
    case 'code_host':
    case 'commerce_platform':
    case 'chat_platform':
    case 'hmac':
      return mintSecret(ctx)
  }
}

function formerSecret(tx: Ctx, { id, secret }: WebhookRow): Buffer | null {
  if (secret === null) return null
  return tx.cipher.seal(
    tx.cipher.open(secret, secretPlace('webhooks.secret', id)).reveal(),
    secretPlace('webhooks.previous_secret', id),
  )
}
