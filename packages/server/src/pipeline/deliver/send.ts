import { encodeId } from '@postroad/contract'
import type { Deps } from '../../context.ts'
import { deliveryHeaders, envelope, templateScope, type Event } from '../../domain/delivery/delivery-request.ts'
import type { Rendered } from '../../domain/delivery/payload-template.ts'
import { readRetryAfter } from '../../domain/delivery/retry-policy.ts'
import { storedRequest } from '../../domain/delivery/sent-request.ts'
import { traceparentOf } from '../../domain/delivery/trace-context.ts'
import { secretsToSign } from '../../domain/delivery/signing-secrets.ts'
import { stopwatch } from '../../platform/clock.ts'
import { turnOfTheLoop } from '../../platform/loop-turns.ts'
import type { OutboundRequest, OutboundResult } from '../../platform/outbound-http.ts'
import { createAccessTokens, type TokenClient } from './access-tokens.ts'
import type { Payload, Evidence } from './payload.ts'
import type { Begun, HttpResult } from './ports.ts'
import { createTargets } from './targets.ts'
import type { Target } from './target.ts'

export type Sender = {
  /** Makes one attempt over HTTP; never rejects. Its request ends within `endsInMs`, including its preparation. */
  send(attempt: Begun, within: { readonly timeoutMs: number; readonly endsInMs: number }): Promise<HttpResult>
  /** Makes the next attempt read these destinations again. */
  readonly forget: (destinationIds: readonly string[]) => void
}

const TOO_LATE =
  'The request could not be prepared in time, so it was not sent; see the log of the server for what is slow.'
const TIMEOUT_LEFT_MS_MIN = 1_000
/** Deadlines are checked four times a second. */
const DEADLINE_LATE_MS = 300

/**
 * Builds the signed request of an attempt from the committed data of its start, and sends it through the guarded outbound
 * client.
 */
export function createSender(deps: Deps): Sender {
  const targets = createTargets(deps)
  const accessTokens = createAccessTokens(deps)

  /** Sends the request, unless its preparation has used up its time. */
  const exchange = async (request: OutboundRequest, timeLeft: () => number): Promise<OutboundResult> => {
    const leftMs = timeLeft()
    if (leftMs <= 0) return { kind: 'failure', code: 'timeout', detail: TOO_LATE, durationMs: 0 }
    return deps.outbound.request(leftMs < request.timeoutMs ? { ...request, timeoutMs: leftMs } : request)
  }

  /**
   * Sends with an access token. After a 401, sends once more with a new token, because the previous one may have been revoked
   * early.
   */
  const sendWithToken = async (client: TokenClient, request: Signed, timeLeft: () => number): Promise<HttpResult> => {
    const first = await tryWithToken(client, { request, timeLeft }, { spentMs: 0 })
    return first.refused === undefined
      ? first.result
      : (await tryWithToken(client, { request, timeLeft }, first)).result
  }

  type Try = { readonly result: HttpResult; readonly spentMs: number; readonly refused: string | undefined }

  async function tryWithToken(
    client: TokenClient,
    { request, timeLeft }: { request: Signed; timeLeft: () => number },
    before: { readonly spentMs: number; readonly refused?: string | undefined },
  ): Promise<Try> {
    const timeLeftMs = (spentMs: number): number => Math.max(request.timeoutMs - spentMs, TIMEOUT_LEFT_MS_MIN)
    const obtained = await accessTokens.obtain(client, {
      timeoutMs: timeLeftMs(before.spentMs),
      refused: before.refused,
    })
    const waitedMs = before.spentMs + obtained.durationMs
    if ('error' in obtained)
      return { result: failure('auth_failed', obtained.error, waitedMs), spentMs: waitedMs, refused: undefined }
    const headers = { ...request.headers, authorization: `Bearer ${obtained.token}` }
    const sent = { ...request, headers }
    const result = await exchange({ ...sent, timeoutMs: timeLeftMs(waitedMs) }, timeLeft)
    const spentMs = waitedMs + result.durationMs
    const refused = result.kind === 'response' && result.status === 401 && !obtained.isNew
    return {
      result: httpResult({ ...result, durationMs: spentMs }, sent, deps.clock.wall()),
      spentMs,
      refused: refused ? obtained.token : undefined,
    }
  }

  return {
    send: async (attempt, { timeoutMs, endsInMs }) => {
      const passedMs = stopwatch()
      const timeLeft = (): number => endsInMs - DEADLINE_LATE_MS - passedMs()
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the store put it there, and the machine passes it back unread
      const payload = attempt.payload as Payload
      try {
        const found = targets.of(payload)
        const target = found instanceof Promise ? await found : found
        if (target === undefined) return failure('invalid_url', 'The destination was deleted.')
        const event = {
          id: encodeId('record', payload.record_id),
          dataset: payload.dataset,
          received_at: payload.received_at,
          data: payload.data,
        }
        // Many attempts start at a time, and each template may use its full work budget.
        if (target.template !== undefined) await turnOfTheLoop()
        const rendered = bodyOf(event, target)
        if (!rendered.ok) return failure('template_failed', rendered.error)
        const request = requestOf({
          attempt,
          payload,
          target,
          event,
          body: rendered.body,
          chain:
            payload.receiver_id === null
              ? payload.chain
              : target.nextChain({ chain: payload.chain, id: payload.receiver_id }),
          userAgent: deps.deliveryUserAgent,
          timeoutMs,
          now: deps.clock.wall(),
          databaseNow: deps.clock.now(),
        })
        if (target.tokenClient !== undefined) return await sendWithToken(target.tokenClient, request, timeLeft)
        return httpResult(await exchange(request, timeLeft), request, deps.clock.wall())
      } catch (error) {
        targets.forget([payload.destination_id])
        deps.log.warn('delivery.not_sent', {
          destination_id: encodeId('destination', payload.destination_id),
          cause: error,
        })
        return failure('connection_reset', 'The sender could not prepare the request; see its log.')
      }
    },
    forget: targets.forget,
  }
}

/** Uses only stored data, so the body is the same on every attempt until the template changes. */
function bodyOf(event: Event, { template }: Target): Rendered {
  return template === undefined
    ? { ok: true, body: envelope(event) }
    : template.compiled.render(templateScope(event, template.secret))
}

/** `own`: the headers whose values are write-only. */
type Signed = OutboundRequest & { readonly body: string; readonly own: Readonly<Record<string, string>> }

type ToSend = {
  attempt: Begun
  payload: Payload
  target: Target
  event: Event
  body: string
  chain: string | null
  userAgent: string
  timeoutMs: number
  now: number
  databaseNow: number
}

function requestOf({
  attempt,
  payload,
  target,
  event,
  body,
  chain,
  userAgent,
  timeoutMs,
  now,
  databaseNow,
}: ToSend): Signed {
  const { secrets, url, maxInFlight, transport, signing } = target
  const headers = deliveryHeaders({
    own: target.headers,
    event,
    attempt: { id: encodeId('attempt', attempt.attempt_id), number: attempt.attempt_number },
    traceparent: traceparentOf({ submissionId: payload.submission_id, attemptId: attempt.attempt_id }),
    hops: payload.hops + 1,
    chain,
    body,
    secrets: secretsToSign(secrets, databaseNow),
    signing,
    userAgent,
    now,
  })
  return { url, headers, own: target.headers, body, timeoutMs, maxInFlight, lane: payload.destination_id, transport }
}

function failure(
  code: Extract<HttpResult, { type: 'failure' }>['error_code'],
  detail: string,
  durationMs = 0,
): HttpResult {
  return {
    type: 'failure',
    error_code: code,
    evidence: { ...NOTHING_SEEN, durationMs: Math.round(durationMs), detail } satisfies Evidence,
  }
}

const NOTHING_SEEN = { headers: null, body: null, truncated: null, request: null } as const

// oxlint-disable-next-line max-params -- what came of what, and when
function httpResult(result: OutboundResult, sent: Signed, now: number): HttpResult {
  const durationMs = Math.round(result.durationMs)
  const request = result.kind === 'failure' && result.detail === TOO_LATE ? null : JSON.stringify(storedRequest(sent))
  if (result.kind === 'failure') {
    const evidence: Evidence = { ...NOTHING_SEEN, durationMs, detail: result.detail, request }
    return { type: 'failure', error_code: result.code, evidence }
  }
  const { status, headers, body, truncated } = result
  const retryAfter = headers['retry-after']
  const evidence: Evidence = { durationMs, headers: JSON.stringify(headers), body, truncated, detail: null, request }
  return {
    type: 'response',
    status,
    retry_after_seconds: retryAfter === undefined ? null : readRetryAfter(retryAfter, now),
    evidence,
  }
}
