import { encodeId } from '@postroad/contract'
import { stringifyJson } from '../../../domain/json/json-text.ts'
import type { InstructionOf } from '../compile.ts'
import type { Emitted } from '../instance.ts'
import type { RunDraft } from '../run-draft.ts'
import { renderedOr } from '../template.ts'

/** The run stops: the settling commit stores the event, and the steps after it may need its record. */
export function emit(run: RunDraft, { step, data }: InstructionOf<'emit'>): void {
  const made = renderedOr(data, run)
  if (!made.ok) return run.fail(step, { reason: 'template_failed', message: made.error })
  run.emit({ step_id: step.id, dataset: step.dataset, text: stringifyJson(made.value) })
}

export function emitted(
  run: RunDraft,
  { instruction, outcome }: { readonly instruction: InstructionOf<'emit'>; readonly outcome: Emitted },
): void {
  const { step, data, retained } = instruction
  if (!outcome.ok) return run.fail(step, { ...outcome, retryable: true })
  const { record_id } = outcome
  if (retained) {
    // Rendered again, the payload is the same, because a run is pure.
    const made = renderedOr(data, run)
    run.retain(step.id, { record_id, payload: made.ok ? made.value : null })
  }
  run.succeed(step, { output: { record_id: encodeId('record', record_id) }, input: { dataset: step.dataset } })
}
