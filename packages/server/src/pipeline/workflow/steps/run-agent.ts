import { decodeId, encodeId } from '@postroad/contract'
import { wordOf } from '@postroad/contract/lights'
import type { InstructionOf } from '../compile.ts'
import { isMembers, type Failing, type RunDraft } from '../run-draft.ts'
import { renderedOr } from '../template.ts'

/** The commit that ends an AI run wakes its instance. This check only makes up for a lost wake. */
const LOOK_MS = 300_000

export function beginAgent(run: RunDraft, { step, input: given }: InstructionOf<'agent'>): void {
  const made = renderedOr(given, run)
  if (!made.ok) return run.fail(step, { reason: 'template_failed', message: made.error })
  const agentId = decodeId('aiAgent', step.agent)
  if (agentId === undefined) return run.fail(step, NO_AGENT)
  const id = run.means.uuid()
  const { output_schema, max_steps, timeout_seconds } = step
  const request = { input: made.value, output_schema, max_steps, timeout_seconds }
  run.aiRuns.push({ id, agent_id: agentId, step_id: step.id, request })
  run.park(step, {
    state: 'waiting',
    due_at: run.now + LOOK_MS,
    wait: { kind: 'ai_run', id },
    input: { agent: step.agent },
    output: { run_id: encodeId('aiRun', id) },
  })
}

export function endAgent(run: RunDraft, { step }: InstructionOf<'agent_end'>): void {
  const { awaited } = run.instance
  if (awaited?.kind !== 'ai_run' || awaited.state === undefined) return run.failAwaited(step, NO_RUN)
  const { state, output, error } = awaited
  if (state === 'queued' || state === 'running') return run.lookAgain(awaited, LOOK_MS)
  if (state !== 'succeeded')
    return run.failAwaited(step, {
      reason: `ai_run_${state}`,
      message: messageOf(error) ?? `The AI run ${state === 'failed' ? 'failed' : `was ${wordOf(state)}`}.`,
    })
  run.succeed(step, { output: { ...run.outputOf(step.id), ...(isMembers(output) ? output : { text: output }) } })
}

const messageOf = (error: unknown): string | undefined =>
  isMembers(error) && 'message' in error && typeof error.message === 'string' ? error.message : undefined

const NO_AGENT: Failing = { reason: 'agent_not_found', message: 'The AI agent of this step no longer exists.' }
const NO_RUN: Failing = { reason: 'ai_run_not_found', message: 'The AI run of this step was deleted.' }
