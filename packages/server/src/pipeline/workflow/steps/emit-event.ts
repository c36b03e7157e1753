import { encodeId } from '@postroad/contract'
import { customerIn } from '../../../domain/capture/customer.ts'
import { stringifyJson } from '../../../domain/json/json-text.ts'
import type { InstructionOf } from '../compile.ts'
import type { Emitted } from '../instance.ts'
import type { RunDraft } from '../run-draft.ts'
import { renderedOr, type Template } from '../template.ts'

/** The run stops: the settling commit stores the event, and the steps after it may need its record. */
export function emit(run: RunDraft, { step, data, customer }: InstructionOf<'emit'>): void {
  const made = renderedOr(data, run)
  if (!made.ok) return run.fail(step, { reason: 'template_failed', message: made.error })
  const named = customerNamed(run, customer)
  if (!named.ok) return run.fail(step, { reason: 'template_failed', message: named.error })
  run.emit({ step_id: step.id, dataset: step.dataset, text: stringifyJson(made.value), ...named.members })
}

type Named =
  | { readonly ok: true; readonly members: { readonly customer?: string } }
  | { readonly ok: false; readonly error: string }

/** The customer of the event, in a member; none when the step names no customer. */
function customerNamed(run: RunDraft, customer: Template | undefined): Named {
  if (customer === undefined) return { ok: true, members: {} }
  const rendered = run.render(customer)
  if (!rendered.ok) return rendered
  const id = customerIn(rendered.value)
  return { ok: true, members: id === undefined ? {} : { customer: id } }
}

export function emitted(
  run: RunDraft,
  { instruction, outcome }: { readonly instruction: InstructionOf<'emit'>; readonly outcome: Emitted },
): void {
  const { step, data, customer, retained } = instruction
  // The count of events that one event led to only grows, so another attempt gets the same answer.
  if (!outcome.ok) return run.fail(step, { ...outcome, retryable: outcome.reason !== 'loop_detected' })
  const { record_id } = outcome
  if (retained) {
    // A run is pure, so rendering again gives the same payload.
    const made = renderedOr(data, run)
    run.retain(step.id, { record_id, payload: made.ok ? made.value : null })
  }
  const named = customerNamed(run, customer)
  const input = { dataset: step.dataset, ...(named.ok ? named.members : {}) }
  run.succeed(step, { output: { record_id: encodeId('record', record_id) }, input })
}
