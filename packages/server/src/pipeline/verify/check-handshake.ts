import { createHmac, timingSafeEqual } from 'node:crypto'
import { LIMITS } from '@postroad/contract'
import type { Deps } from '../../context.ts'
import type { Path } from '../../domain/routing/dot-path.ts'
import { subscribeUrlOf } from '../../domain/signature/index.ts'
import { hashCredential } from '../../platform/cipher.ts'
import type { HandshakePlan, WebhookPlan } from '../directory.ts'
import { PROVIDER_RETRY_SECONDS, reject, type Answered, type Rejected } from '../types.ts'
import type { Check, Passage } from './passage.ts'

type Outcome = Answered | Rejected | undefined

/** The sender waits for its answer during the confirmation. */
const CONFIRM_MS = 5_000

/** Contract part 4, ingest rule 1: nothing is stored or counted, and every GET that comes this far ends here. */
export const checkHandshake: Check = (_deps, { captured: { asked }, receiver: { webhook } }) => {
  if (asked.kind !== 'handshake') return undefined
  const handshake = webhook?.handshake
  if (handshake?.kind !== 'hub_challenge') {
    return reject('handshake_failed', {
      text: 'This endpoint does not answer a hub.challenge. Set its handshake to hub_challenge with the verify token.',
    })
  }
  if (!fits(asked.challenge)) return reject('invalid_challenge')
  if (asked.mode !== 'subscribe')
    return reject('handshake_failed', { text: 'The hub.mode of a handshake is "subscribe".' })
  return answer(handshake, { token: asked.token, challenge: asked.challenge })
}

/**
 * The handshakes that come as a POST, so this runs after the signature check. They are never stored. A payload that
 * asks nothing is an event.
 */
export const checkPostedHandshake: Check = (deps, passage) => {
  const { webhook } = passage.receiver
  const payload = objectIn(passage.payload)
  if (webhook === undefined || payload === undefined) return undefined
  switch (webhook.handshake.kind) {
    case 'none':
    case 'hub_challenge':
      return undefined
    case 'url_verification':
      return urlVerification(webhook.handshake, payload)
    case 'sns_subscription':
      return snsSubscription(deps, passage)
    case 'discord_ping':
      return discordPing(payload)
    case 'zoom_validation':
      return zoomValidation(webhook, { payload, now: passage.captured.receivedAt })
    case 'twitch_challenge':
      return twitchChallenge(passage.captured.headers, payload)
  }
}

/** Every member of a payload that these handshakes read. */
export const HANDSHAKE_PATHS: readonly Path[] = [
  ['type'],
  ['challenge'],
  ['token'],
  ['event'],
  ['payload', 'plainToken'],
  ['Type'],
  ['SubscribeURL'],
]

type Payload = Readonly<Record<string, unknown>>

function objectIn(payload: unknown): Payload | undefined {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- an object has members of any type
  return typeof payload === 'object' && payload !== null ? (payload as Payload) : undefined
}

/** `{"type":"url_verification","challenge":…}`, and a token if the endpoint has one. */
function urlVerification(handshake: HandshakePlan, { type, challenge, token }: Payload): Outcome {
  if (type !== 'url_verification' || typeof challenge !== 'string') return undefined
  if (!fits(challenge)) return reject('invalid_challenge')
  if (handshake.tokenHash === undefined) return { kind: 'answered', with: 'challenge', challenge }
  return answer(handshake, { token, challenge })
}

/** Confirms a subscription by its SubscribeURL, only for a message whose signature was checked. */
function snsSubscription({ outbound }: Deps, { payload, isProven, receiver }: Passage): Promise<Outcome> | undefined {
  if (receiver.webhook?.settings.scheme !== 'aws_sns' || !isProven) return undefined
  const url = subscribeUrlOf(payload)
  return url === undefined ? undefined : confirmed(outbound, url)
}

async function confirmed(outbound: Deps['outbound'], url: string): Promise<Outcome> {
  const result = await outbound.request({ url, method: 'GET', headers: {}, body: '', timeoutMs: CONFIRM_MS })
  if (result.kind === 'response' && result.status >= 200 && result.status < 300)
    return { kind: 'answered', with: 'challenge', challenge: '' }
  return reject('provider_unavailable', {
    text: 'Postroad cannot confirm this subscription with Amazon SNS now. Send the confirmation again after retry_after seconds.',
    retryAfterSeconds: PROVIDER_RETRY_SECONDS,
  })
}

/** Interactions ask with type 1 and want it back. Webhook events ask with type 0 and want nothing; their type 1 has an event. */
function discordPing({ type, event }: Payload): Outcome {
  if (type === 0) return { kind: 'answered', with: 'nothing' }
  return type === 1 && event === undefined ? { kind: 'answered', with: 'json', json: '{"type":1}' } : undefined
}

/** `endpoint.url_validation`: the token, and its HMAC with the secret of the endpoint. */
function zoomValidation(
  { secrets, settings }: WebhookPlan,
  { payload, now }: { readonly payload: Payload; readonly now: number },
): Outcome {
  if (payload['event'] !== 'endpoint.url_validation') return undefined
  const token = objectIn(payload['payload'])?.['plainToken']
  if (typeof token !== 'string' || !fits(token)) return reject('invalid_challenge')
  const secret = settings.scheme === 'none' ? undefined : secrets.find(({ until }) => until > now)
  if (secret === undefined)
    return reject('handshake_failed', {
      text: 'Postroad signs the answer to this handshake with the verification secret, but this endpoint has none. Set the secret first.',
    })
  const encryptedToken = createHmac('sha256', secret.value).update(token).digest('hex')
  return { kind: 'answered', with: 'json', json: JSON.stringify({ plainToken: token, encryptedToken }) }
}

/** The type of a message of EventSub is in a header, and the challenge in the body. */
function twitchChallenge(headers: Passage['captured']['headers'], { challenge }: Payload): Outcome {
  if (headers['twitch-eventsub-message-type'] !== 'webhook_callback_verification' || typeof challenge !== 'string')
    return undefined
  return fits(challenge) ? { kind: 'answered', with: 'challenge', challenge } : reject('invalid_challenge')
}

function fits(challenge: string): boolean {
  return challenge.length > 0 && challenge.length <= LIMITS.challengeCharsMax
}

/** Compares hashes in constant time, so that the duration of a refusal reveals neither the token nor its length. */
function answer({ tokenHash }: HandshakePlan, given: { token: unknown; challenge: string }): Answered | Rejected {
  const { token, challenge } = given
  const same = typeof token === 'string' && tokenHash !== undefined && timingSafeEqual(hashCredential(token), tokenHash)
  return same ? { kind: 'answered', with: 'challenge', challenge } : reject('handshake_failed')
}
