import type { Deps } from '../../../context.ts'
import { readRetryAfter } from '../../../domain/delivery/retry-policy.ts'
import { storedRequest } from '../../../domain/delivery/sent-request.ts'
import type { OutboundResult } from '../../../platform/outbound-http.ts'
import { createAccessTokens, type TokenClient } from '../access-tokens.ts'
import type { Evidence } from '../payload.ts'
import type { SendResult } from '../ports.ts'
import { failure, NOTHING_SEEN, TOO_LATE, type Prepared, type SendPrepared } from './types.ts'

const TIMEOUT_LEFT_MS_MIN = 1_000

type Signed = Prepared['request']

/** Sends one signed POST for each event, with an access token if the destination wants one. */
export function createHttpSender(deps: Deps): SendPrepared {
  const accessTokens = createAccessTokens(deps)

  /** Sends the request, unless its preparation has used up its time. */
  const exchange = async (request: Signed, timeLeft: () => number): Promise<OutboundResult> => {
    const leftMs = timeLeft()
    if (leftMs <= 0) return { kind: 'failure', code: 'timeout', detail: TOO_LATE, durationMs: 0 }
    const client = request.ofCustomer ? deps.customersOutbound : deps.outbound
    return client.request(leftMs < request.timeoutMs ? { ...request, timeoutMs: leftMs } : request)
  }

  /**
   * Sends with an access token. After a 401, sends once more with a new token, because the previous one may have been revoked
   * early.
   */
  const sendWithToken = async (client: TokenClient, request: Signed, timeLeft: () => number): Promise<SendResult> => {
    const first = await tryWithToken(client, { request, timeLeft }, { spentMs: 0 })
    return first.refused === undefined
      ? first.result
      : (await tryWithToken(client, { request, timeLeft }, first)).result
  }

  type Try = { readonly result: SendResult; readonly spentMs: number; readonly refused: string | undefined }

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
      return {
        result: failure({ code: 'auth_failed', detail: obtained.error, durationMs: waitedMs }),
        spentMs: waitedMs,
        refused: undefined,
      }
    const headers = { ...request.headers, authorization: `Bearer ${obtained.token}` }
    const sent = { ...request, headers }
    const result = await exchange({ ...sent, timeoutMs: timeLeftMs(waitedMs) }, timeLeft)
    const spentMs = waitedMs + result.durationMs
    const refused = result.kind === 'response' && result.status === 401 && !obtained.isNew
    return {
      result: sendResult({ ...result, durationMs: spentMs }, sent, deps.clock.wall()),
      spentMs,
      refused: refused ? obtained.token : undefined,
    }
  }

  return async ({ target, request, timeLeft }) => {
    const result =
      target.tokenClient === undefined
        ? sendResult(await exchange(request, timeLeft), request, deps.clock.wall())
        : await sendWithToken(target.tokenClient, request, timeLeft)
    return target.config.kind === 'postroad' ? readAsPostroad(result, request) : result
  }
}

/** Another Postroad answers 413 to every attempt, so the event fails. A receiver of webhooks may answer otherwise later. */
function readAsPostroad(result: SendResult, { body }: Signed): SendResult {
  if (result.type !== 'response' || result.status !== 413) return result
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- made by sendResult
  const { durationMs, request } = result.evidence as Evidence
  const detail = `The event has ${Buffer.byteLength(body)} bytes, which is more than the other Postroad accepts. Postroad does not retry it.`
  return failure({ code: 'event_too_large', detail, durationMs: durationMs ?? 0, isPermanent: true, request })
}

// oxlint-disable-next-line max-params -- the result, its request, and the time
function sendResult(result: OutboundResult, sent: Signed, now: number): SendResult {
  const durationMs = Math.round(result.durationMs)
  const request = result.kind === 'failure' && result.detail === TOO_LATE ? null : JSON.stringify(storedRequest(sent))
  if (result.kind === 'failure') {
    const evidence: Evidence = { ...NOTHING_SEEN, durationMs, detail: result.detail, request }
    return { type: 'failure', error_code: result.code, evidence }
  }
  const { status, headers, body, truncated, note } = result
  const retryAfter = headers['retry-after']
  const evidence: Evidence = { durationMs, headers: JSON.stringify(headers), body, truncated, detail: note, request }
  return {
    type: 'response',
    status,
    retry_after_seconds: retryAfter === undefined ? null : readRetryAfter(retryAfter, now),
    evidence,
  }
}
