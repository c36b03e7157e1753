import { Condition, decodeId, encodeId } from '@postroad/contract'
import { isRawNumber } from '../../../domain/json/json-text.ts'
import type { InstructionOf } from '../compile.ts'
import type { Memory, Wait } from '../instance.ts'
import { iso, type RunDraft } from '../run-draft.ts'
import type { Template } from '../template.ts'
import { waitKey } from '../wait-key.ts'

const SECOND_MS = 1_000

type EventWait = Extract<Wait, { kind: 'event' }>
type Fault = { readonly ok: false; readonly error: string }

export function beginWait(run: RunDraft, instruction: InstructionOf<'wait'>): void {
  const { step } = instruction
  const wait = waitOf(instruction, run)
  if ('error' in wait) return run.fail(step, { reason: 'template_failed', message: wait.error })
  const due_at = run.now + step.timeout_seconds * SECOND_MS
  const { dataset, conditions } = wait
  run.park(step, { state: 'waiting', due_at, wait, input: { dataset, conditions, timeout_at: iso(due_at) } })
}

export function endWait(run: RunDraft, { step }: InstructionOf<'wait_end'>): void {
  const { awaited } = run.instance
  if (awaited?.kind === 'event') {
    const { record_id, received_at, payload = null } = awaited
    const output = { timed_out: false, record_id: encodeId('record', record_id), received_at, payload }
    return run.succeed(step, { output })
  }
  if (step.on_timeout === 'fail')
    return run.fail(step, {
      reason: 'wait_timed_out',
      message: `No event arrived within ${step.timeout_seconds} seconds.`,
    })
  run.succeed(step, { output: { timed_out: true, record_id: null, received_at: null, payload: null } })
  if (step.on_timeout === 'stop') run.endAs('completed', null)
}

/** Each record ends one wait of an instance, and no instance waits for a record that it filed itself. */
function pastRecords({ steps }: Memory): readonly string[] {
  return Object.values(steps).flatMap(({ output }): readonly string[] => {
    if (typeof output !== 'object' || output === null || !('record_id' in output)) return []
    const id = decodeId('record', String(output.record_id))
    return id === undefined ? [] : [id]
  })
}

/** Renders the conditions once, when the wait starts, and makes the key with which a record finds the wait. */
function waitOf({ step, values }: InstructionOf<'wait'>, run: RunDraft): EventWait | Fault {
  const [looksBack, past] = [step.since !== 'now', pastRecords(run.known())]
  const conditions: Condition[] = []
  for (const [index, given] of step.conditions.entries()) {
    const made = rendered(given, { template: values.get(index), run })
    if ('ok' in made) return made
    conditions.push(made)
  }
  // A fixed value is the same in every instance, so it would find all of them.
  const order = conditions.map((condition, index) => ({ condition, isRendered: values.has(index) }))
  for (const { condition } of order.toSorted((a, b) => Number(b.isRendered) - Number(a.isRendered))) {
    const key = 'equals' in condition ? waitKey(condition.path, condition.equals) : undefined
    if (key !== undefined)
      return { kind: 'event', dataset: step.dataset, path: condition.path, key, conditions, looksBack, past }
  }
  return { ok: false, error: 'The wait has no condition with "equals", so no event could find it. Add one.' }
}

function rendered(
  condition: Condition,
  { template, run }: { readonly template: Template | undefined; readonly run: RunDraft },
): Condition | Fault {
  if (template === undefined) return condition
  const made = run.render(template)
  if (!made.ok) return made
  const { path } = condition
  const value = isRawNumber(made.value) ? Number(made.value.rawJSON) : made.value
  if (typeof value === 'number' && !(Math.abs(value) <= Number.MAX_SAFE_INTEGER))
    return { ok: false, error: lost(path) }
  if (value === null)
    return {
      ok: false,
      error: `The condition on "${path}" compares with a value that does not exist in this workflow.`,
    }
  const checked = Condition.safeParse(
    'equals' in condition ? { path, equals: value } : { path, op: condition.op, value },
  )
  if (checked.success) return checked.data
  const [issue] = checked.error.issues
  return {
    ok: false,
    error: `The condition on "${path}" does not render a valid value. ${issue?.message ?? ''}`.trim(),
  }
}

const lost = (path: string): string =>
  `The condition on "${path}" renders a number beyond 2^53, whose neighbors would match too. Send this value as text in both events.`
