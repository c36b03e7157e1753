import { LIMITS } from '@postroad/contract'
import type { Deps } from '../../../context.ts'
import { KINDS } from '../../../domain/delivery/destination-kind.ts'
import { readRetryAfter } from '../../../domain/delivery/retry-policy.ts'
import { storedSend } from '../../../domain/delivery/sent-request.ts'
import type { OutboundResponse } from '../../../platform/outbound-http.ts'
import type { Evidence } from '../payload.ts'
import type { ErrorCode, SendResult } from '../ports.ts'
import { failure, NOTHING_SEEN, TOO_LATE, type Prepared, type SendPrepared } from './types.ts'
import { withoutSecrets } from './without-secrets.ts'

/** The request of one event to the API of a queue or a topic. */
export type Call = {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  /** The URL that the attempt shows, if it is more specific than the URL of the request. */
  readonly shownUrl?: string
}

/** The meaning of an answer: the API has the event, or refused it for a reason; undefined: its status is the reason. */
export type Answer =
  | { readonly text: string }
  | { readonly code: ErrorCode; readonly detail: string; readonly isPermanent?: boolean }
  | undefined

export type Api = {
  /** `now` is the wall clock, for signatures. */
  readonly call: (prepared: Prepared, now: number) => Promise<Call>
  readonly read: (response: OutboundResponse, prepared: Prepared) => Answer
}

/** Sends each event by one POST to the API of its kind, through the guarded client. */
export function createCallSender(deps: Deps, api: Api): SendPrepared {
  return async (prepared) => {
    const { target, request, lane, timeLeft } = prepared
    const { url, headers, body, shownUrl = url } = await api.call(prepared, deps.clock.wall())
    const leftMs = timeLeft()
    if (leftMs <= 0) return failure({ code: 'timeout', detail: TOO_LATE })
    const { transport, maxInFlight } = target
    const client = request.ofCustomer ? deps.customersOutbound : deps.outbound
    const result = await client.request({
      method: 'POST',
      url,
      headers,
      body,
      timeoutMs: Math.min(request.timeoutMs, leftMs),
      lane,
      transport,
      maxInFlight,
    })
    const sent = JSON.stringify(storedSend({ ...request, url: shownUrl }, KINDS[target.config.kind]))
    if (result.kind === 'failure') return failure({ ...result, request: sent })
    return resultOf(result, { prepared, answer: api.read(result, prepared), sent, now: deps.clock.wall() })
  }
}

type Of = {
  readonly prepared: Prepared
  readonly answer: Answer
  readonly sent: string
  readonly now: number
}

function resultOf(
  { status, headers, body, truncated, note, durationMs }: OutboundResponse,
  { prepared: { target }, answer, sent, now }: Of,
): SendResult {
  if (answer !== undefined && 'code' in answer)
    return failure({ ...answer, detail: withoutSecrets(answer.detail, target), durationMs, request: sent })
  // A 410 would disable the destination, which only a receiver of webhooks may ask for.
  if (status === 410) return failure({ code: 'refused', detail: 'The API answered 410.', durationMs, request: sent })
  const text = answer === undefined ? body : answer.text.slice(0, LIMITS.destinationNoteCharsMax)
  const retryAfter = headers['retry-after']
  const evidence: Evidence = {
    ...NOTHING_SEEN,
    durationMs: Math.round(durationMs),
    headers: JSON.stringify(headers),
    body: withoutSecrets(text, target),
    truncated: answer === undefined && truncated,
    detail: note,
    request: sent,
  }
  const retry_after_seconds = retryAfter === undefined ? null : readRetryAfter(retryAfter, now)
  return { type: 'response', status, retry_after_seconds, evidence }
}

/** A wrong URL can answer 2xx without a message id, so such an answer does not prove that the API has the event. */
export const noId = (name: string): Answer => ({
  code: 'refused',
  detail: `The answer has no message id, so it is not from ${name}. Check the URL of the destination.`,
})

/** The attributes with which readers filter messages, and verify them like webhooks. */
export function attributesOf({ event, request }: Prepared): readonly (readonly [string, string])[] {
  const proofs = SIGNATURES.flatMap((name) => {
    const value = request.headers[name]
    return value === undefined ? [] : [[name, value] as const]
  })
  return [['id', event.id], ['dataset', event.dataset], ['received_at', event.received_at.toISOString()], ...proofs]
}

const SIGNATURES = ['webhook-id', 'webhook-timestamp', 'webhook-signature', 'service-signature'] as const
