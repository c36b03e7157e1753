import { encodeId, LIMITS, type Decision } from '@postroad/contract'
import type { Deps } from '../../context.ts'
import type { InTurns, Spend } from '../../domain/in-turns.ts'
import { explain } from '../../domain/routing/explain.ts'
import type { WorkflowPlan } from '../directory.ts'
import type { RecordDraft, StartDraft, Verified } from '../types.ts'

type Considered = NonNullable<Decision['starts']>[number]

/**
 * Record drafts × workflows → the instances that the commit starts, with the reason for each match and each mismatch. A record
 * that more than five workflows and agents led to starts nothing, so a loop of them ends.
 */
export function* start(
  ids: Pick<Deps, 'uuid'>,
  { verified, records, spend }: { verified: Verified; records: readonly RecordDraft[]; spend: Spend },
): InTurns<{ starts: readonly StartDraft[]; considered: readonly Considered[] }> {
  const starts: StartDraft[] = []
  const considered: Considered[] = []
  for (const record of records) {
    for (const workflow of verified.receiver.plan.workflows) {
      if (workflow.dataset !== record.dataset) continue
      const failed = yield* explain(workflow.conditions, { payload: record.payload, spend })
      const reason = reasonOf({ matched: failed === null, hops: verified.hops })
      const draft = reason === 'matched' ? draftOf(ids, { workflow, record }) : undefined
      if (draft !== undefined) starts.push(draft)
      considered.push({
        kind: 'workflow',
        id: workflow.publicId,
        name: workflow.name,
        record_id: encodeId('record', record.id),
        matched: draft !== undefined,
        reason,
        failed,
        started_id: draft === undefined ? null : encodeId('workflowInstance', draft.id),
      })
    }
  }
  return { starts, considered }
}

function reasonOf({ matched, hops }: { matched: boolean; hops: number }): Considered['reason'] {
  if (!matched) return 'condition_failed'
  return hops > LIMITS.hopsMax ? 'too_many_hops' : 'matched'
}

function draftOf(
  ids: Pick<Deps, 'uuid'>,
  { workflow, record }: { workflow: WorkflowPlan; record: RecordDraft },
): StartDraft {
  return {
    id: ids.uuid(),
    workflowId: workflow.id,
    version: workflow.version,
    recordId: record.id,
    dataset: record.dataset,
  }
}
