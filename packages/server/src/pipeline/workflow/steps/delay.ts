import { LIMITS } from '@postroad/contract'
import type { InstructionOf } from '../compile.ts'
import { iso, type Failing, type RunDraft } from '../run-draft.ts'
import type { Template } from '../template.ts'

const SECOND_MS = 1_000
const DAY_SECONDS = 86_400

export function beginDelay(run: RunDraft, { step, until }: InstructionOf<'delay'>): void {
  const at = until === undefined ? run.now + (step.seconds ?? 0) * SECOND_MS : timeOf(run, until)
  if (typeof at !== 'number') return run.fail(step, at)
  if (at > run.now + LIMITS.workflowSecondsMax * SECOND_MS) return run.fail(step, TOO_LATE)
  run.park(step, { state: 'sleeping', due_at: Math.max(at, run.now), wait: null, input: { until: iso(at) } })
  // If the time has passed, the run continues immediately.
  if (at <= run.now) run.unpark()
}

export function endDelay(run: RunDraft, { step }: InstructionOf<'delay_end'>): void {
  run.succeed(step, { output: { woke_at: iso(run.now) } })
}

const RFC_3339 = /^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(?:\.\d+)?(?:[Zz]|[+-]\d\d:\d\d)$/

function timeOf(run: RunDraft, until: Template): number | Failing {
  const made = run.render(until)
  if (!made.ok) return { reason: 'template_failed', message: made.error }
  const at = typeof made.value === 'string' && RFC_3339.test(made.value) ? Date.parse(made.value) : Number.NaN
  return Number.isNaN(at) ? NO_TIME : at
}

const NO_TIME: Failing = {
  reason: 'invalid_time',
  message: 'until does not render an RFC 3339 time, such as 2030-01-31T09:00:00Z.',
}
const TOO_LATE: Failing = {
  reason: 'invalid_time',
  message: `until is more than ${LIMITS.workflowSecondsMax / DAY_SECONDS} days ahead.`,
}
