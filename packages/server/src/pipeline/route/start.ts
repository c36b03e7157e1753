import { encodeId, LIMITS, type Decision } from '@postroad/contract'
import type { Deps } from '../../context.ts'
import type { InTurns, Spend } from '../../domain/in-turns.ts'
import { explain } from '../../domain/routing/explain.ts'
import type { TriggerPlan, WorkflowPlan } from '../directory.ts'
import type { RecordDraft, RunDraft, StartDraft, Verified } from '../types.ts'

type Considered = NonNullable<Decision['starts']>[number]
type Started = {
  readonly starts: readonly StartDraft[]
  readonly runs: readonly RunDraft[]
  readonly considered: readonly Considered[]
}

/**
 * Record drafts × workflows and AI triggers → the instances and runs that the commit starts, with the reason for each match and
 * each mismatch. A record that more than five workflows and agents led to starts nothing, so a loop of them ends.
 */
export function* start(
  ids: Pick<Deps, 'uuid'>,
  { verified, records, spend }: { verified: Verified; records: readonly RecordDraft[]; spend: Spend },
): InTurns<Started> {
  const starts: StartDraft[] = []
  const runs: RunDraft[] = []
  const considered: Considered[] = []
  const { workflows, triggers } = verified.receiver.plan
  const consider = { hops: verified.hops, spend }
  for (const record of records) {
    const of = { recordId: record.id, dataset: record.dataset }
    for (const workflow of workflows) {
      if (workflow.dataset !== record.dataset) continue
      const id = ids.uuid()
      const one = yield* considerOne(workflow, {
        ...consider,
        record,
        kind: 'workflow',
        startedId: encodeId('workflowInstance', id),
      })
      considered.push(one)
      if (one.matched) starts.push({ ...of, id, workflowId: workflow.id, version: workflow.version })
    }
    for (const trigger of triggers) {
      if (trigger.dataset !== record.dataset) continue
      const id = ids.uuid()
      const one = yield* considerOne(trigger, {
        ...consider,
        record,
        kind: 'trigger',
        startedId: encodeId('aiRun', id),
      })
      considered.push(one)
      if (one.matched) runs.push({ ...of, id, triggerId: trigger.id, agentId: trigger.agentId })
    }
  }
  return { starts, runs, considered }
}

function* considerOne(
  starter: WorkflowPlan | TriggerPlan,
  of: {
    readonly kind: Considered['kind']
    readonly record: RecordDraft
    readonly hops: number
    readonly startedId: string
    readonly spend: Spend
  },
): InTurns<Considered> {
  const failed = yield* explain(starter.conditions, { payload: of.record.payload, spend: of.spend })
  const reason = failed !== null ? 'condition_failed' : of.hops > LIMITS.hopsMax ? 'too_many_hops' : 'matched'
  return {
    kind: of.kind,
    id: starter.publicId,
    name: starter.name,
    record_id: encodeId('record', of.record.id),
    matched: reason === 'matched',
    reason,
    failed,
    started_id: reason === 'matched' ? of.startedId : null,
  }
}
