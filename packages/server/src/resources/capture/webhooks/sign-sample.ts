import { encodeId } from '@postroad/contract'
import { refuse } from '../../../domain/refusal.ts'
import { secretPlace } from '../../../domain/secret-place.ts'
import { signatureSeconds, signRequest } from '../../../domain/signature/index.ts'
import { inTransaction } from '../../../transaction.ts'
import { audit } from '../../workspace/audit/index.ts'
import type { Room } from '../../verbs.ts'
import { findWebhook } from './queries.ts'

/** Signs as the sender of the endpoint would. Its work is one digest of a body that the admin API bounds to 1 MiB. */
export const signSample: Room<'webhooks'>['signSample'] = (ctx, { id, body, body_base64 }) =>
  inTransaction(ctx, async (tx) => {
    const webhook = await findWebhook(tx.db, { ...tx, id })
    if (webhook === undefined) throw refuse('not_found')
    const { verification: settings, secret } = webhook
    if (settings.scheme === 'none') return { scheme: settings.scheme, headers: {}, expires_at: null }
    if (secret === null) {
      throw refuse(
        'invalid_state',
        'This endpoint has no verification secret yet, so nothing can be signed. Set the secret with a change of its verification.',
      )
    }
    const nowMs = tx.clock.wall()
    const headers = signRequest({
      settings,
      secret: tx.cipher.open(secret, secretPlace('webhooks.secret', id)).reveal(),
      id: `msg_${tx.randomText(24)}`,
      body: body_base64 === undefined ? Buffer.from(body ?? '') : Buffer.from(body_base64, 'base64'),
      nowSeconds: Math.floor(nowMs / 1_000),
    })
    const seconds = signatureSeconds(settings)
    await audit(tx, {
      action: 'sign_sample_request',
      target: encodeId('webhook', id),
      details: { scheme: settings.scheme },
    })
    return {
      scheme: settings.scheme,
      headers,
      expires_at: seconds === undefined ? null : new Date(nowMs + seconds * 1_000).toISOString(),
    }
  })
