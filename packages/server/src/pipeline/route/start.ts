import { encodeId, LIMITS, type Decision } from '@postroad/contract'
import type { RequestView } from '../../domain/routing/event-path.ts'
import { explain } from '../../domain/routing/explain.ts'
import type { Counting } from '../../domain/work-budget.ts'
import type { RecordDraft, RunDraft, StartDraft } from '../types.ts'
import type { Routing, TriggerPlan, WorkflowPlan } from './routing.ts'

type Considered = NonNullable<Decision['starts']>[number]
type Started = {
  readonly starts: readonly StartDraft[]
  readonly runs: readonly RunDraft[]
  readonly considered: readonly Considered[]
}

/**
 * Record drafts × workflows and AI triggers → the instances and runs that the commit starts, with the reason for each match and
 * each mismatch. If more than five workflows and agents led to a record, it starts nothing, so a loop of them ends.
 */
export function start(
  { uuid, routing, budget }: { readonly uuid: () => string; readonly routing: Routing; readonly budget: Counting },
  {
    hops,
    records,
    request,
  }: {
    readonly hops: number
    readonly records: readonly RecordDraft[]
    readonly request: RequestView | null
  },
): Started {
  const starts: StartDraft[] = []
  const runs: RunDraft[] = []
  const considered: Considered[] = []
  const { workflows, triggers } = routing
  const consider = { hops, request, budget }
  for (const record of records) {
    const of = { recordId: record.id, dataset: record.dataset }
    for (const workflow of workflows) {
      if (workflow.dataset !== record.dataset) continue
      const reasons = reasonsOf(workflow, { ...consider, record })
      const id = reasons.matched ? uuid() : undefined
      if (id !== undefined) starts.push({ ...of, id, workflowId: workflow.id, version: workflow.version })
      const started_id = id === undefined ? null : encodeId('workflowInstance', id)
      considered.push({ kind: 'workflow', ...reasons, started_id })
    }
    for (const trigger of triggers) {
      if (trigger.dataset !== record.dataset) continue
      const reasons = reasonsOf(trigger, { ...consider, record })
      const id = reasons.matched ? uuid() : undefined
      if (id !== undefined) runs.push({ ...of, id, triggerId: trigger.id, agentId: trigger.agentId })
      const started_id = id === undefined ? null : encodeId('aiRun', id)
      considered.push({ kind: 'trigger', ...reasons, started_id })
    }
  }
  return { starts, runs, considered }
}

function reasonsOf(
  starter: WorkflowPlan | TriggerPlan,
  {
    record,
    request,
    hops,
    budget,
  }: {
    readonly record: RecordDraft
    readonly request: RequestView | null
    readonly hops: number
    readonly budget: Counting
  },
): Omit<Considered, 'kind' | 'started_id'> {
  const failed = explain(starter.conditions, { payload: record.payload, request, budget })
  const reason = failed !== null ? 'condition_failed' : hops > LIMITS.hopsMax ? 'too_many_hops' : 'matched'
  const named = { id: starter.publicId, name: starter.name, record_id: encodeId('record', record.id) }
  return { ...named, matched: reason === 'matched', reason, failed }
}
