import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import { LIMITS } from '@postroad/contract'
import type { Deps } from '../../context.ts'
import {
  formAskedBy,
  hasAnswer,
  isShort,
  valueAt,
  type CompiledForm,
  type DigestPiece,
  type Question,
  type Writing,
} from '../../domain/capture/handshake.ts'
import { parseJson } from '../../domain/json/json-text.ts'
import { subscribeUrlOf } from '../../domain/signature/index.ts'
import { hashCredential } from '../../platform/cipher.ts'
import { codingOf } from '../../platform/inflate.ts'
import type { WebhookPlan } from '../directory.ts'
import { PROVIDER_RETRY_SECONDS, reject, type Answered, type Captured, type Rejected } from '../types.ts'
import type { Check, Passage } from './passage.ts'

type Outcome = Answered | Rejected | undefined
/** A question that a form of the endpoint fits. */
type Asking = {
  readonly passage: Passage
  readonly webhook: WebhookPlan
  readonly form: CompiledForm
  readonly question: Question
}

/** The sender waits for its answer during the confirmation. */
const CONFIRM_MS = 5_000

/** Whether an endpoint answers a request that is not an event, by its URL and headers alone. */
export function asksByHead(webhook: WebhookPlan | undefined, question: Question): boolean {
  return webhook !== undefined && formAskedBy(webhook.handshake, { question, isSigned: false }) !== undefined
}

export const questionOf = (captured: Captured, method: Question['method'], body?: unknown): Question => ({
  method,
  headers: captured.headers,
  query: new URLSearchParams(captured.target.split('?').slice(1).join('?')),
  body,
})

/** Answers questions by methods other than POST. It stores and counts nothing, and every GET that reaches it ends here. */
export const checkHandshake: Check = (deps, passage) => {
  const { captured, receiver } = passage
  const { webhook } = receiver
  if (captured.asked.kind !== 'handshake' && captured.asked.kind !== 'preflight') return undefined
  const question = questionOf(captured, captured.asked.kind === 'preflight' ? 'OPTIONS' : 'GET')
  const form = webhook === undefined ? undefined : formAskedBy(webhook.handshake, { question, isSigned: false })
  if (webhook !== undefined && form !== undefined) return answered(deps, { passage, webhook, form, question })
  if (webhook?.handshake.kind === 'hub_challenge') {
    if (!isShort(question.query.get('hub.challenge') ?? '')) return reject('invalid_challenge')
    return reject('handshake_failed', { text: 'The hub.mode of a handshake is "subscribe".' })
  }
  return reject('handshake_failed', {
    text: 'This endpoint does not answer a hub.challenge. Set its handshake to hub_challenge with the verify token.',
  })
}

/**
 * The posted questions that no signature proves: providers ask them before they have the secret. So this runs before the
 * signature check, and reads only a short body as JSON.
 */
export const checkOpenHandshake: Check = (deps, passage) => {
  const { webhook } = passage.receiver
  if (webhook === undefined || !webhook.handshake.forms.some(({ isSigned }) => !isSigned)) return undefined
  const readsBody = webhook.handshake.forms.some((form) => !form.isSigned && form.readsBody)
  const question = questionOf(passage.captured, 'POST', readsBody ? shortJson(passage) : undefined)
  const form = formAskedBy(webhook.handshake, { question, isSigned: false })
  return form === undefined ? undefined : answered(deps, { passage, webhook, form, question })
}

/** The posted questions that a signature proves, so this runs after its check. A payload that asks nothing is an event. */
export const checkSignedHandshake: Check = (deps, passage) => {
  const { webhook } = passage.receiver
  if (webhook === undefined || !webhook.handshake.forms.some(({ isSigned }) => isSigned)) return undefined
  const question = questionOf(passage.captured, 'POST', passage.payload)
  const form = formAskedBy(webhook.handshake, { question, isSigned: true })
  return form === undefined ? undefined : answered(deps, { passage, webhook, form, question })
}

function shortJson({ body, captured: { headers, depthMax } }: Passage): unknown {
  if (body.length === 0 || body.length > LIMITS.handshakeBodyBytesMax) return undefined
  const coding = codingOf(headers['content-encoding'])
  if (coding !== undefined && coding !== 'identity') return undefined
  const text = body.toString('utf8')
  if (!/^\s*[{[]/.test(text)) return undefined
  const parsed = parseJson(text, depthMax)
  return parsed.ok ? parsed.value : undefined
}

function answered(deps: Deps, asking: Asking): Outcome | Promise<Outcome> {
  const { form, question, passage } = asking
  if (!hasAnswer(form, question)) return reject('invalid_challenge')
  const refused = tokenRefusal(asking) ?? keyRefusal(asking)
  if (refused !== undefined) return refused
  return form.confirms === undefined ? written(deps, asking) : confirmed(deps, passage)
}

/** Compares hashes in constant time, so that the duration of a refusal reveals neither the token nor its length. */
function tokenRefusal({ form, question, webhook: { handshake } }: Asking): Rejected | undefined {
  const { tokenIn, needsToken } = form
  const { tokenHash } = handshake
  if (tokenHash === undefined) return needsToken ? reject('handshake_failed') : undefined
  if (tokenIn === undefined) return undefined
  const given = valueAt(question, tokenIn)
  const same = typeof given === 'string' && timingSafeEqual(hashCredential(given), tokenHash)
  return same ? undefined : reject('handshake_failed')
}

/** No event with content has this form: a signature over other texts would let anyone with the URL sign events. */
const NO_EVENT = /^[\w+/-]+={0,2}$/

function keyRefusal(asking: Asking): Rejected | undefined {
  const { form, question } = asking
  if (!form.isKeyed) return undefined
  if (secretOf(asking) === undefined)
    return reject('handshake_failed', {
      text: 'Postroad signs the answer to this handshake with the verification secret, but this endpoint has none. Set the secret first.',
    })
  const isPlain = form.places.every((place) => {
    const value = valueAt(question, place)
    return value === undefined || (typeof value === 'string' && NO_EVENT.test(value))
  })
  return form.isSigned || isPlain
    ? undefined
    : reject('invalid_challenge', {
        text: 'Postroad signs a challenge without a proof only if it consists of letters, digits and + / _ -, with = at its end. Send such a challenge.',
      })
}

function secretOf({ webhook: { secrets, settings }, passage }: Asking): string | undefined {
  if (settings.scheme === 'none') return undefined
  return secrets.find(({ until }) => until > passage.captured.receivedAt)?.value
}

/** Printable ASCII. The parser of the sender would read another value as another header. */
const HEADER_VALUE = /^[ -~]*$/

function written(deps: Deps, asking: Asking): Answered | Rejected {
  const { form, question } = asking
  const writing: Writing = { question, digest: (piece, read) => digestOf(deps, { asking, piece, read }) }
  const headers = form.headers.map(([name, write]) => [name, write(writing)] as const)
  if (!headers.every(([, value]) => HEADER_VALUE.test(value)))
    return reject('invalid_challenge', {
      text: 'The answer to this challenge goes into a header, which can contain only printable ASCII. Send such a challenge.',
    })
  return {
    kind: 'answered',
    with: 'handshake',
    status: form.status,
    contentType: form.contentType,
    headers: [...headers.flat(), ...(question.method === 'OPTIONS' ? ['Allow', 'POST, HEAD, OPTIONS'] : [])],
    body: form.body(writing),
  }
}

type Digesting = {
  readonly asking: Asking
  readonly piece: DigestPiece
  readonly read: Parameters<Writing['digest']>[1]
}

function digestOf(deps: Deps, { asking, piece: { digest, of, encoding }, read }: Digesting): string {
  const { webhook, passage } = asking
  const text = of.map((operand) => {
    if (operand === 'verify_token') return webhook.handshake.token ?? ''
    return operand === 'url' ? deps.baseUrl() + (passage.captured.target.split('?')[0] ?? '') : read(operand)
  })
  const hash =
    digest === 'sha256' ? createHash(digest) : createHmac(digest.replace('hmac_', ''), secretOf(asking) ?? '')
  return hash.update(text.join('')).digest(encoding)
}

/** Confirms a subscription by its SubscribeURL, only for a message whose signature was checked. */
function confirmed({ outbound }: Deps, { payload, isProven, receiver }: Passage): Promise<Outcome> | undefined {
  if (receiver.webhook?.settings.scheme !== 'aws_sns' || !isProven) return undefined
  const url = subscribeUrlOf(payload)
  return url === undefined ? undefined : visited(outbound, url)
}

async function visited(outbound: Deps['outbound'], url: string): Promise<Outcome> {
  const result = await outbound.request({ url, method: 'GET', headers: {}, body: '', timeoutMs: CONFIRM_MS })
  if (result.kind === 'response' && result.status >= 200 && result.status < 300)
    return { kind: 'answered', with: 'handshake', status: 200, contentType: 'text/plain', headers: [], body: '' }
  return reject('provider_unavailable', {
    text: 'Postroad cannot confirm this subscription with Amazon SNS now. Send the confirmation again after retry_after seconds.',
    retryAfterSeconds: PROVIDER_RETRY_SECONDS,
  })
}
