import { encodeId, LIMITS, type Condition, type Step } from '@postroad/contract'
import type { Ctx } from '../../../context.ts'
import { dryRunSteps } from '../../../domain/automation/dry-run.ts'
import { stepBudget, type StepScope } from '../../../domain/automation/value-template.ts'
import { finish } from '../../../domain/in-turns.ts'
import { parseStoredJson, stringifyJson } from '../../../domain/json/json-text.ts'
import { refuse } from '../../../domain/refusal.ts'
import { compileConditions } from '../../../domain/routing/condition.ts'
import { explain } from '../../../domain/routing/explain.ts'
import { PacedWork } from '../../../platform/paced-work.ts'
import { findPayload } from '../../capture/payloads/index.ts'
import { checkConditions } from '../../check-conditions.ts'
import type { Room } from '../../verbs.ts'
import { checkSteps } from './check.ts'
import { findWorkflow, findWorkflowVersion } from './queries.ts'

type Tried = {
  readonly workflow: StepScope['workflow']
  readonly entry_dataset: string
  readonly entry_conditions: readonly Condition[]
  readonly steps: readonly Step[]
}
type Asked = Parameters<Room<'workflows'>['dryRun']>[1]

/** Work for each character of the payload, which templates and conditions may read. */
const READ_WORK = 8

/** Shows the effects that a workflow would have on one payload. Nothing is stored, and no step acts. */
export const dryRunWorkflow: Room<'workflows'>['dryRun'] = async (ctx, asked) => {
  const tried = await triedWorkflow(ctx, asked)
  checkConditions([...tried.entry_conditions], 'entry_conditions')
  checkSteps(tried.steps)
  const { record, payload, chars } = await subjectOf(ctx, asked, tried)
  const work = new PacedWork(LIMITS.dryRunWorkMax)
  await work.spend(READ_WORK * chars)
  const { spend } = work
  const failed = await finish(explain(compileConditions(tried.entry_conditions, 'strict'), { payload, spend }))
  const scope = { payload, record, workflow: tried.workflow, now: new Date(ctx.clock.now()).toISOString() }
  const { steps, outputs } = { steps: tried.steps, outputs: asked.outputs }
  const shown = await finish(dryRunSteps({ steps, scope, outputs, budget: stepBudget(), spend }))
  return { starts: failed === null && record.dataset === tried.entry_dataset, failed, ...shown }
}

/** The saved workflow with its members replaced by those that were sent. */
async function triedWorkflow(ctx: Ctx, { workflow_id: id, ...sent }: Asked): Promise<Tried> {
  if (id === undefined) {
    if (sent.steps === undefined)
      throw refuse(
        'invalid_request',
        'steps is missing; send the steps to test, or the workflow_id of a stored workflow.',
      )
    return {
      workflow: { id: encodeId('workflow', ctx.uuid()), name: 'Dry run', version: 1 },
      entry_dataset: sent.entry_dataset ?? 'dry_run',
      entry_conditions: sent.entry_conditions ?? [],
      steps: sent.steps,
    }
  }
  const row = await findWorkflow(ctx.db, { ...ctx, id })
  const saved = row && (await findWorkflowVersion(ctx.db, { ...ctx, id, version: row.version }))
  if (row === undefined || saved === undefined) throw refuse('not_found')
  return {
    workflow: { id: encodeId('workflow', id), name: row.name, version: row.version },
    entry_dataset: sent.entry_dataset ?? row.entry_dataset,
    entry_conditions: sent.entry_conditions ?? row.entry_conditions,
    steps: sent.steps ?? saved.definition.steps,
  }
}

type Subject = { readonly record: StepScope['record']; readonly payload: unknown; readonly chars: number }

// oxlint-disable-next-line max-params -- the context, the request, and the workflow
async function subjectOf(ctx: Ctx, { payload, record_id: id }: Asked, { entry_dataset }: Tried): Promise<Subject> {
  if ((payload === undefined) === (id === undefined))
    throw refuse('invalid_request', 'payload: send either a payload or the record_id of a stored record.')
  if (id === undefined) {
    const record = {
      id: encodeId('record', ctx.uuid()),
      dataset: entry_dataset,
      received_at: new Date(ctx.clock.now()).toISOString(),
    }
    return { record, payload, chars: stringifyJson(payload).length }
  }
  const row = await findPayload(ctx.db, { ...ctx, id })
  if (row === undefined) throw refuse('not_found')
  const { dataset, received_at, data } = row
  const parsed = parseStoredJson(data)
  const record = { id: encodeId('record', id), dataset, received_at: received_at.toISOString() }
  return { record, payload: parsed.ok ? parsed.value : null, chars: data.length }
}
