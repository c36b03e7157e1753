import { encodeId } from '@postroad/contract'
import { withQuery } from '@postroad/contract/sent-again'
import { refuse } from '../../../domain/refusal.ts'
import { secretPlace } from '../../secret-place.ts'
import { isSignable, isSignedInBody, signatureSeconds, signRequest } from '../../../domain/signature/index.ts'
import { inTransaction } from '../../../transaction.ts'
import { audit } from '../../workspace/audit/index.ts'
import type { Room } from '../../verbs.ts'
import { presentWebhook } from './present.ts'
import { findWebhook } from './queries.ts'
import { urlParts } from './url-parts.ts'

const TOKEN_IS_SECRET =
  'Requests to this endpoint carry the secret itself, and nobody can read a stored secret back. Send the request with the secret that you have.'
const SIGNED_IN_BODY =
  'The signature of this endpoint is in the body, which only the sender writes. Send a test from the sender.'
const WHY_UNSIGNABLE = {
  public_key: 'Only the sender has the private key, so Postroad cannot sign. Send a test from the sender.',
  static_token: TOKEN_IS_SECRET,
  basic_auth: TOKEN_IS_SECRET,
  oidc_bearer: 'Only the issuer has the private key, so Postroad cannot sign. Send a test from the sender.',
  aws_sns: 'Only Amazon SNS has the private key, so Postroad cannot sign. Publish a message to the topic.',
  paypal: 'Only PayPal has the private key, so Postroad cannot sign. Send a test event from PayPal.',
} as const

/** Signs as the sender of the endpoint would. The work is one digest of a body, which the admin API limits to 1 MiB. */
export const signSample: Room<'webhooks'>['signSample'] = (ctx, { id, body, body_base64, query = '' }) =>
  inTransaction(ctx, async (tx) => {
    const webhook = await findWebhook(tx.db, { ...tx, id })
    if (webhook === undefined) throw refuse('not_found')
    const { verification: settings, secret } = webhook
    if (settings.scheme === 'none') return { scheme: settings.scheme, headers: {}, expires_at: null }
    if (isSignedInBody(settings)) throw refuse('invalid_state', SIGNED_IN_BODY)
    if (!isSignable(settings)) throw refuse('invalid_state', WHY_UNSIGNABLE[settings.scheme])
    if (secret === null) {
      throw refuse(
        'invalid_state',
        'This endpoint has no verification secret yet, so Postroad cannot sign for it. Change its verification to set the secret.',
      )
    }
    const nowMs = tx.clock.wall()
    const headers = signRequest({
      settings,
      secret: tx.cipher.open(secret, secretPlace('webhooks.secret', id)).reveal(),
      id: `msg_${tx.randomText(24)}`,
      body: body_base64 === undefined ? Buffer.from(body ?? '') : Buffer.from(body_base64, 'base64'),
      nowSeconds: Math.floor(nowMs / 1_000),
      url: withQuery(presentWebhook(tx, webhook, await urlParts(tx)).public_url, query),
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
