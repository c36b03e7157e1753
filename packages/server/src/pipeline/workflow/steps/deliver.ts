import { decodeId, encodeId } from '@postroad/contract'
import type { EventSource } from '../../../domain/routing/event-path.ts'
import { parseStoredJson } from '../../../domain/json/json-text.ts'
import type { InstructionOf } from '../compile.ts'
import type { Awaited, DeliveryOut } from '../instance.ts'
import type { Failing, RunDraft } from '../run-draft.ts'

/** The pause before the first check of an awaited delivery. It doubles with each further check, up to a minute. */
const LOOK_MS = 1_000
const LOOK_MS_MAX = 60_000

type Step = InstructionOf<'deliver'>['step']
type Sent = EventSource & { readonly record_id: string }

export function beginDelivery(run: RunDraft, { step }: InstructionOf<'deliver'>): void {
  const sent = sentBy(run, step)
  if ('reason' in sent) return run.fail(step, sent)
  const delivery = deliveryOf(run, { step, sent })
  if (delivery === undefined) return run.fail(step, NO_DESTINATION)
  run.deliveries.push(delivery)
  const input = { destination: step.destination, record_id: encodeId('record', sent.record_id) }
  const output = { delivery_id: encodeId('delivery', delivery.id) }
  if (step.await === 'none') return run.succeed(step, { output, input, next: run.cursor + 2 })
  const wait = { kind: 'delivery', id: delivery.id } as const
  run.park(step, { state: 'waiting', due_at: run.now + LOOK_MS, wait, input, output })
}

/** undefined: there is no such destination. */
function deliveryOf(run: RunDraft, { step, sent }: { step: Step; sent: Sent }): DeliveryOut | undefined {
  const { place, uuid } = run.means
  const id = decodeId('destination', step.destination)
  const destination = id === undefined ? undefined : place.destination(id)
  if (id === undefined || destination === undefined) return undefined
  // The loop that releases waiting deliveries counts them in the month.
  const counted = place.counted ? 'allowance_used' : null
  return {
    id: uuid(),
    record_id: sent.record_id,
    destination_id: id,
    pause_reason: destination.enabled ? counted : 'destination_disabled',
    order_key: destination.orderKeyOf?.({ payload: sent.payload, request: sent.request }, sent.record_id) ?? null,
  }
}

function sentBy(run: RunDraft, { record }: Step): Sent | Failing {
  const { instance } = run
  const { emitted, payload, request = null } = run.known()
  if (record !== undefined) {
    const sent = emitted[record]
    return sent === undefined ? noRecordOf(record) : { ...sent, request: null }
  }
  return instance.record_stored ? { record_id: instance.record.id, payload, request } : NO_RECORD
}

export function endDelivery(run: RunDraft, { step }: InstructionOf<'deliver_end'>): void {
  const { awaited } = run.instance
  if (awaited?.kind !== 'delivery' || awaited.state === undefined) return run.failAwaited(step, NO_DELIVERY)
  switch (awaited.state) {
    case 'delivered':
      return run.succeed(step, { output: outputOf(run, { step, awaited }) })
    case 'failed':
    case 'cancelled':
      return run.failAwaited(step, {
        reason: `delivery_${awaited.state}`,
        message: `The delivery ${awaited.state === 'failed' ? 'failed' : 'was canceled'}.`,
      })
    case 'pending':
    case 'sending':
    case 'retrying':
    case 'paused':
      return run.lookAgain(awaited, Math.min(Math.max(run.waitedMs(), LOOK_MS), LOOK_MS_MAX))
  }
}

function outputOf(
  run: RunDraft,
  { step, awaited }: { readonly step: Step; readonly awaited: Extract<Awaited, { kind: 'delivery' }> },
): object {
  const output = { ...run.outputOf(step.id), status: 'delivered', response_status: awaited.last_status }
  return step.capture_response ? { ...output, response_body: jsonOrNull(awaited.response_body) } : output
}

/** Only the start of a long response is stored, and the start alone is not JSON. */
function jsonOrNull(text: string | null): unknown {
  const parsed = text === null ? undefined : parseStoredJson(text)
  return parsed?.ok === true ? parsed.value : null
}

const noRecordOf = (step: string): Failing => ({
  reason: 'record_not_found',
  message: `The step "${step}" stored no record, so there is nothing to deliver.`,
})
const NO_RECORD: Failing = {
  reason: 'record_not_found',
  message: 'The record that started the workflow was deleted after its retention.',
}
const NO_DESTINATION: Failing = {
  reason: 'destination_not_found',
  message: 'The destination of this step no longer exists.',
}
const NO_DELIVERY: Failing = {
  reason: 'delivery_not_found',
  message: 'The delivery was deleted after its retention.',
}
