import type { Program } from '../../src/pipeline/workflow/compile.ts'
import type {
  AiRunOut,
  DeliveryOut,
  Held,
  Memory,
  StepError,
  StepRun,
  Wait,
} from '../../src/pipeline/workflow/instance.ts'

/** The rows of the simulated database. */
export interface Version {
  readonly workflow: string
  readonly version: number
  readonly dataset: string
  readonly program: Program
}

export interface SimRecord {
  readonly id: string
  readonly workspace: string
  readonly dataset: string
  readonly payload: unknown
  readonly hops: number
  readonly committedAt: number
  /** The step that emitted it; null: a sender sent it. */
  readonly by: { readonly instance: string; readonly step: string } | null
}

export interface InstanceRow {
  readonly workspace: string
  readonly id: string
  readonly workflow: string
  readonly version: number
  readonly record: SimRecord
  state: 'pending' | 'running' | 'sleeping' | 'waiting' | 'retrying' | 'completed' | 'failed' | 'cancelled'
  cursor: number
  attempt: number
  /** JSON text. */
  memory: string | null
  fence: number
  due_at: number | null
  lease_until: number | null
  wait: Wait | null
  /** The record that ended the wait for an event. */
  matched: SimRecord | null
  /** The number of records that had been committed when the instance started. */
  readonly startedAt: number
  /** Records from this place of the log on can end the wait. */
  waitSince: number
  /** Records with later ids, from before the wait, are left to compare; null: none. */
  lookFrom: string | null
  paused_at: number | null
  error: StepError | null
  updated_at: number
  readonly steps: Map<number, StepRun>
}

export interface SimDelivery extends DeliveryOut {
  readonly instance: string
  state: 'pending' | 'delivered' | 'failed'
}

export interface SimAiRun extends AiRunOut {
  readonly instance: string
  state: 'queued' | 'succeeded' | 'failed'
}

export interface Pause {
  phase: 'pausing' | 'paused' | 'resuming'
  halted_at: number
  resumed_at: number | null
}

export const heldOf = (row: InstanceRow): Held => ({
  workspace_id: row.workspace,
  project_id: row.workspace,
  id: row.id,
  fence: row.fence,
})

export function memoryOf(row: InstanceRow): Memory {
  if (row.memory !== null) {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the machine wrote it
    return JSON.parse(row.memory) as Memory
  }
  return {
    payload: row.record.payload,
    received_at: new Date(row.record.committedAt).toISOString(),
    chain: null,
    steps: {},
    emitted: {},
    seq: 0,
    open: null,
  }
}
