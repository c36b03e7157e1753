import { encodeId, type Condition, type Step, type WorkflowDryRun } from '@postroad/contract'
import type { Ctx } from '../../../context.ts'
import { storedView } from '../../../domain/capture/request-view.ts'
import type { RequestView } from '../../../domain/routing/event-path.ts'
import type { StepScope } from '../../../domain/automation/value-template.ts'
import { stringifyJson } from '../../../domain/json/json-text.ts'
import { RawJson } from '../../../domain/json/raw-json.ts'
import { refuse } from '../../../domain/refusal.ts'
import { hasTemplate } from '../../../domain/templates/json-template.ts'
import { dryRunWorkflow as dryRun, type WorkflowTried } from '../../../tasks/dry-run-workflow.ts'
import { findPayload, findReceived } from '../../capture/payloads/index.ts'
import { checkConditions } from '../../check-conditions.ts'
import { writtenAnswer, type Room } from '../../verbs.ts'
import { checkSteps } from './check.ts'
import { findWorkflow, findWorkflowVersion } from './queries.ts'

type Tried = {
  readonly workflow: StepScope['workflow']
  readonly entry_dataset: string
  readonly entry_conditions: readonly Condition[]
  readonly steps: readonly Step[]
}
type Asked = Parameters<Room<'workflows'>['dryRun']>[1]

/** Shows the effects that a workflow would have on one payload. Nothing is stored, and no step acts. */
export const dryRunWorkflow: Room<'workflows'>['dryRun'] = async (ctx, asked) => {
  const tried = await triedWorkflow(ctx, asked)
  checkConditions([...tried.entry_conditions], 'entry_conditions')
  checkSteps(tried.steps)
  const { record, payload, request } = await subjectOf(ctx, asked, tried)
  const { entry_conditions, steps, workflow } = tried
  const scope = { record, workflow, now: new Date(ctx.clock.now()).toISOString() }
  const text = stringifyJson({ entry_conditions, steps, scope, outputs: asked.outputs } satisfies WorkflowTried)
  const done = await ctx.heavy.run(dryRun, {
    workspaceId: ctx.workspaceId,
    input: { tried: text, payload, request },
    // A template can do much work on a short payload.
    work: hasTemplate(text) ? Infinity : READ_WORK * (payload.length + text.length),
  })
  const starts = done.isStarting && record.dataset === tried.entry_dataset
  return writtenAnswer<WorkflowDryRun>({
    starts,
    failed: new RawJson(done.failed),
    steps: new RawJson(done.steps),
    complete: done.complete,
  })
}

/** Work for each character that conditions may read. */
const READ_WORK = 8

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

/** `payload`: JSON. */
type Subject = {
  readonly record: StepScope['record']
  readonly payload: string
  readonly request: RequestView | null
}

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
    return { record, payload: stringifyJson(payload), request: null }
  }
  const row = await findPayload(ctx.db, { ...ctx, id })
  if (row === undefined) throw refuse('not_found')
  const { dataset, received_at, data } = row
  const record = { id: encodeId('record', id), dataset, received_at: received_at.toISOString() }
  const received = await findReceived(ctx.db, { ...ctx, recordId: id, needs: 'request' })
  return { record, payload: data, request: received === undefined ? null : storedView(received) }
}
