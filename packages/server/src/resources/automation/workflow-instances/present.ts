import { encodeId, type RouteOutput, type Routes } from '@postroad/contract'
import type { InstanceRow, StepRunRow } from './queries.ts'

type Shown = RouteOutput<Routes['workflowInstances']['cancel']>['instance']

/** Row → public shape. */
export function presentInstance(row: InstanceRow): Shown {
  const paused = row.paused_at !== null && row.ended_at === null
  return {
    id: encodeId('workflowInstance', row.id),
    workflow_id: encodeId('workflow', row.workflow_id),
    workflow: row.workflow,
    version: row.version,
    record_id: encodeId('record', row.record_id),
    dataset: row.dataset,
    started_by: row.started_by,
    state: paused ? 'paused' : row.state,
    resumes_as: paused ? row.state : null,
    waits_for: waitOf(row, paused),
    next_at: paused ? null : (row.due_at?.toISOString() ?? null),
    error: row.error,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
    ended_at: row.ended_at?.toISOString() ?? null,
  }
}

/** The end of a wait moves while the instance is paused, so it is not shown then. */
function waitOf(row: InstanceRow, paused: boolean): Shown['waits_for'] {
  const until = paused ? null : (row.due_at?.toISOString() ?? null)
  if (row.state === 'sleeping') return { kind: 'time', until }
  if (row.state === 'retrying') return { kind: 'retry', until }
  if (row.state !== 'waiting') return null
  if (row.wait_kind === 'event')
    return { kind: 'event', dataset: row.wait_dataset ?? '', conditions: [...(row.wait_conditions ?? [])], until }
  if (row.wait_id === null) return null
  return row.wait_kind === 'delivery'
    ? { kind: 'delivery', id: encodeId('delivery', row.wait_id) }
    : { kind: 'ai_run', id: encodeId('aiRun', row.wait_id) }
}

export const presentStepRun = (row: StepRunRow) => ({
  ...row,
  started_at: row.started_at.toISOString(),
  ended_at: row.ended_at?.toISOString() ?? null,
})
