import { Condition, type StepOf } from '@postroad/contract'
import { isRawNumber } from '../../domain/json/json-text.ts'
import type { Wait } from './ports.ts'
import type { Scope, Template } from './template.ts'
import { waitKey } from './wait-key.ts'

type Begun = { readonly ok: true; readonly wait: Extract<Wait, { kind: 'event' }> } | Fault
type Fault = { readonly ok: false; readonly error: string }

/** Renders the conditions of a wait once, when it begins, and makes the key by which a record finds it. */
export function beginWait(
  step: StepOf<'wait_for_event'>,
  { values, scope }: { readonly values: ReadonlyMap<number, Template>; readonly scope: Scope },
): Begun {
  const conditions: Condition[] = []
  for (const [index, given] of step.conditions.entries()) {
    const made = rendered(given, { template: values.get(index), scope })
    if ('ok' in made) return made
    conditions.push(made)
  }
  for (const condition of conditions) {
    if (!('equals' in condition)) continue
    const key = waitKey(condition.path, condition.equals)
    if (key !== undefined) return { ok: true, wait: { kind: 'event', dataset: step.dataset, path: condition.path, key, conditions } }
  }
  return { ok: false, error: 'The wait has no condition with "equals", so no event could find it. Add one.' }
}

function rendered(
  condition: Condition,
  { template, scope }: { readonly template: Template | undefined; readonly scope: Scope },
): Condition | Fault {
  if (template === undefined) return condition
  const made = template(scope)
  if (!made.ok) return made
  const value = isRawNumber(made.value) ? Number(made.value.rawJSON) : made.value
  if (value === null || value === undefined)
    return { ok: false, error: `The condition on "${condition.path}" compares with a value that this workflow does not have.` }
  const { path } = condition
  const checked = Condition.safeParse('equals' in condition ? { path, equals: value } : { path, op: condition.op, value })
  if (checked.success) return checked.data
  const [issue] = checked.error.issues
  return { ok: false, error: `The condition on "${path}" renders no valid value. ${issue?.message ?? ''}`.trim() }
}
