import { encodeId, LIMITS } from '@postroad/contract'
import type { Deps } from '../../context.ts'
import { deliveryBody, type DeliveryBody, type ReceivedRequest } from '../../domain/delivery/delivery-body.ts'
import { deliveryHeaders, templateScope, type Event } from '../../domain/delivery/delivery-request.ts'
import type { Rendered } from '../../domain/delivery/payload-template.ts'
import { traceparentOf } from '../../domain/delivery/trace-context.ts'
import { secretsToSign } from '../../domain/delivery/signing-secrets.ts'
import { stopwatch } from '../../platform/clock.ts'
import { findPayload, findReceived } from '../../resources/capture/payloads/queries.ts'
import { renderTemplate } from '../../tasks/render-template.ts'
import type { Payload } from './payload.ts'
import { INLINE_BYTES_MAX, PayloadMemory, type Held } from './payload-memory.ts'
import type { Begun, SendResult } from './ports.ts'
import { createSenders } from './senders/index.ts'
import { failure, skipped, type Prepared } from './senders/types.ts'
import { createTargets } from './targets.ts'
import type { Target } from './target.ts'
import { createTransforming, type Transformed } from './transformed.ts'

export type Sender = {
  /** Makes one attempt; never rejects. Its request ends within `endsInMs`, including its preparation. */
  send(attempt: Begun, within: { readonly timeoutMs: number; readonly endsInMs: number }): Promise<SendResult>
  /** Makes the next attempt read these destinations again. */
  readonly forget: (destinationIds: readonly string[]) => void
  /** Sends incomplete batches immediately, because the process is about to stop. */
  readonly endWaits: () => void
}

/** Deadlines are checked four times a second. */
const DEADLINE_LATE_MS = 300

/**
 * Builds the signed request of an attempt from the committed data of its start, and sends it by the sender of the destination's
 * kind.
 */
export function createSender(deps: Deps): Sender {
  const targets = createTargets(deps)
  const senders = createSenders(deps)
  const memory = new PayloadMemory(deps.clock)
  const transforming = createTransforming(deps)

  const sendPayload = async (found: ToSendPayload, held: Held | undefined): Promise<SendResult> => {
    const { attempt, payload, target, timeoutMs, timeLeft } = found
    const event = {
      id: encodeId('record', payload.record_id),
      dataset: payload.dataset,
      received_at: payload.received_at,
      data: payload.data ?? (isThin(target) ? '' : await largeData(deps, payload)),
    }
    const { workspace_id: workspaceId, destination_id: lane } = payload
    // Most deliveries need no more of the event than its payload, which came with the start of the attempt.
    const received =
      target.needs === 'nothing'
        ? undefined
        : await findReceived(deps.database, { ...at(payload), needs: target.needs })
    const rendering = bodyOf(deps, { workspaceId, event, target, received })
    const plain = rendering instanceof Promise ? await rendering : rendering
    if ('error' in plain) return failure({ code: 'template_failed', detail: plain.error })
    const { transform } = target
    const rendered: Transformed =
      transform === undefined ? plain : await transforming({ workspaceId, event, transform, made: plain, received })
    if ('failed' in rendered) return failure({ code: 'transform_failed', detail: rendered.failed })
    if ('skipped' in rendered) return skipped()
    // A template may render much less than it may at most.
    held?.resize(Math.min(bytesOf(payload, target), event.data.length + rendered.body.length))
    const passed = {
      hops: payload.hops + 1,
      chain:
        payload.receiver_id === null
          ? payload.chain
          : target.nextChain({ chain: payload.chain, id: payload.receiver_id }),
    }
    const request = requestOf({
      attempt,
      payload,
      target,
      event,
      rendered,
      passed,
      userAgent: deps.deliveryUserAgent,
      timeoutMs,
      now: deps.clock.wall(),
      databaseNow: deps.clock.now(),
    })
    return senders.of[target.config.kind]({ workspaceId, target, event, lane, request, passed, timeLeft })
  }

  /** Large payloads wait for memory, as long as their requests retain their whole timeout. */
  const sendWithin = async (found: ToSendPayload): Promise<SendResult> => {
    const { payload, target, timeoutMs, timeLeft } = found
    const bytes = bytesOf(payload, target)
    if (bytes === 0) return sendPayload(found, undefined)
    const of = { workspaceId: payload.workspace_id, lane: payload.destination_id }
    const held = await memory.take(of, { bytes, patienceMs: Math.max(0, timeLeft() - timeoutMs) })
    if (held === undefined) return { type: 'unsent' }
    try {
      return await sendPayload(found, held)
    } finally {
      held.free()
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
        if (target === undefined) return failure({ code: 'invalid_url', detail: 'The destination was deleted.' })
        return await sendWithin({ attempt, payload, target, timeoutMs, timeLeft })
      } catch (error) {
        targets.forget([payload.destination_id])
        deps.log.warn('delivery.not_sent', {
          destination_id: encodeId('destination', payload.destination_id),
          cause: error,
        })
        return failure({
          code: 'connection_reset',
          detail: 'The server could not prepare the request. The server log contains the cause.',
        })
      }
    },
    forget: targets.forget,
    endWaits: senders.endWaits,
  }
}

const at = ({ workspace_id: workspaceId, project_id: projectId, record_id: recordId }: Payload) => ({
  workspaceId,
  projectId,
  recordId,
})

/** The most memory that the payload and the body of this delivery can take; 0: so little that the slots bound it. */
function bytesOf({ bytes, request_bytes }: Payload, target: Target): number {
  const { template, transform, needs } = target
  if (isThin(target)) return 0
  const read = bytes + (needs === 'nothing' ? 0 : request_bytes)
  const isPlain = template === undefined && transform === undefined
  if (read <= INLINE_BYTES_MAX && isPlain) return 0
  return read + (isPlain ? read : LIMITS.templateBodyCharsMax)
}

/** The body has nothing of the payload, so the payload is not read. */
const isThin = ({ body }: Target): boolean => body.body === 'thin'

async function largeData({ database }: Deps, payload: Payload): Promise<string> {
  const { workspaceId, projectId, recordId: id } = at(payload)
  const found = await findPayload(database, { workspaceId, projectId, id })
  if (found === undefined) throw new Error('the event of a delivery is not stored')
  return found.data
}

type Made = DeliveryBody | { readonly error: string }

/** Uses only stored data, so the body is the same on every attempt until the settings change. */
function bodyOf(deps: Deps, { workspaceId, event, target, received }: ToRender): Made | Promise<Made> {
  const { template, body } = target
  const made = deliveryBody(event, { settings: body, request: received, baseUrl: deps.baseUrl() })
  if (template === undefined) return made
  const { compiled, secret } = template
  const scope = templateScope(event, { secret, request: compiled.usesRequest ? received : undefined })
  const rendering = renderTemplate(deps, { workspaceId, isPatient: true, template: compiled, scope })
  const withBody = (rendered: Rendered): Made =>
    rendered.ok ? { ...made, body: rendered.body } : { error: rendered.error }
  return rendering instanceof Promise ? rendering.then(withBody) : withBody(rendering)
}

type ToSendPayload = {
  readonly attempt: Begun
  readonly payload: Payload
  readonly target: Target
  readonly timeoutMs: number
  readonly timeLeft: () => number
}

type ToRender = {
  readonly workspaceId: string
  readonly event: Event
  readonly target: Target
  readonly received: ReceivedRequest | undefined
}

type ToSend = {
  attempt: Begun
  payload: Payload
  target: Target
  event: Event
  rendered: DeliveryBody & { readonly contentType?: string }
  passed: Prepared['passed']
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
  rendered,
  passed,
  userAgent,
  timeoutMs,
  now,
  databaseNow,
}: ToSend): Prepared['request'] {
  const { secrets, keys, url, maxInFlight, transport, signing, ofCustomer } = target
  const { body, form, reason, forwarded, query, contentType } = rendered
  // A batch is signed as a whole.
  const headers =
    target.batch !== undefined
      ? {}
      : deliveryHeaders({
          own: target.headers,
          forwarded,
          isAsReceived: form === 'as_received',
          contentType,
          event,
          attempt: { id: encodeId('attempt', attempt.attempt_id), number: attempt.attempt_number },
          traceparent: traceparentOf({ submissionId: payload.submission_id, attemptId: attempt.attempt_id }),
          ...passed,
          body,
          secrets: secretsToSign(secrets, databaseNow),
          keys: keys === null ? [] : secretsToSign(keys, databaseNow),
          signing,
          userAgent,
          now,
        })
  // Another Postroad stores an event once for each key, and answers a repeat with 200.
  if (target.config.kind === 'postroad') headers['idempotency-key'] = event.id
  const lane = payload.destination_id
  const sent = { url, query, headers, body, form, reason }
  return { ...sent, own: target.headers, timeoutMs, maxInFlight, lane, transport, ofCustomer }
}
