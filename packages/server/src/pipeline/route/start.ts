import { encodeId, LIMITS } from '@postroad/contract/plain'
import type { StoredDecision } from '../../domain/routing/decision/stored-decision.ts'
import type { RequestView } from '../../domain/routing/event-path.ts'
import type { Counting } from '../../domain/work-budget.ts'
import type { RecordDraft, RunDraft, StartDraft } from '../types.ts'
import type { Routing } from './routing.ts'

type Started = {
  readonly starts: readonly StartDraft[]
  readonly runs: readonly RunDraft[]
  readonly started: NonNullable<StoredDecision['starts']>
}

/**
 * Record drafts × workflows and AI triggers → the instances and runs that the commit starts. If more than five workflows and
 * agents led to a record, it starts nothing, so a loop of them ends.
 */
export function start(
  { uuid, routing, budget }: { readonly uuid: () => string; readonly routing: Routing; readonly budget: Counting },
  {
    hops,
    records,
    request,
  }: { readonly hops: number; readonly records: readonly RecordDraft[]; readonly request: RequestView | null },
): Started {
  const starts: StartDraft[] = []
  const runs: RunDraft[] = []
  const started: [number, string, string][] = []
  if (hops > LIMITS.hopsMax) return { starts, runs, started }
  for (const [at, { id: recordId, dataset, payload }] of records.entries()) {
    const of = { dataset, source: { payload, request }, budget }
    for (const { id: workflowId, publicId, version } of routing.workflows.matching(of)) {
      const id = uuid()
      starts.push({ recordId, dataset, id, workflowId, version })
      started.push([at, publicId, encodeId('workflowInstance', id)])
    }
    for (const { id: triggerId, publicId, agentId } of routing.triggers.matching(of)) {
      const id = uuid()
      runs.push({ recordId, dataset, id, triggerId, agentId })
      started.push([at, publicId, encodeId('aiRun', id)])
    }
  }
  return { starts, runs, started }
}
