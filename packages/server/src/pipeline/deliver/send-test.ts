import { LIMITS } from '@postroad/contract'
import type { Deps } from '../../context.ts'
import type { TestAsked, TestSent } from '../../features.ts'
import type { Payload, Evidence } from './payload.ts'
import { judge } from './judge.ts'
import type { Begun } from './ports.ts'
import { createSender } from './send.ts'

/**
 * Sends a test request to a destination the way its deliveries are sent: through the same outbound client, with the same
 * headers, signatures and credentials, and within its limit of concurrent requests. It belongs to no delivery, so its only
 * effect is the answer.
 */
export async function sendTest(deps: Deps, asked: TestAsked): Promise<TestSent> {
  const { timeoutMs, ...event } = asked
  const payload: Payload = {
    ...event,
    fence: 0,
    delivery_id: event.attempt_id,
    attempt_number: 1,
    failure_count: 0,
    hops: 0,
    // A test has no submission.
    submission_id: event.record_id,
    receiver_id: null,
    chain: null,
    bytes: Buffer.byteLength(event.data),
    request_bytes: 0,
  }
  const attempt: Begun = { ...payload, lane: event.destination_id, payload }
  const sender = createSender(deps)
  // A test has no other events to wait for.
  sender.endWaits()
  const result = await sender.send(attempt, { timeoutMs, endsInMs: timeoutMs + LIMITS.beginToSendMsMax })
  if (result.type === 'unsent') throw new Error('the sender of a test has memory for one payload')
  const verdict = judge(result)
  const isFault = verdict.next !== 'delivered' && verdict.next !== 'cancel'
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- made by send.ts
  const { durationMs, headers, body, truncated, detail } = result.evidence as Evidence
  return {
    outcome: isFault ? 'failed' : 'succeeded',
    error_code: isFault ? verdict.error_code : null,
    error_detail: detail,
    duration_ms: durationMs,
    response_status: result.type === 'response' ? result.status : null,
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- written by send.ts
    response_headers: headers === null ? null : (JSON.parse(headers) as Record<string, string>),
    response_body: body,
    response_truncated: truncated,
  }
}
