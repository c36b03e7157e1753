import type { Condition } from '@postroad/contract'
import type { DeliveryState } from '../../domain/delivery/delivery-state.ts'
import type { OrderKeyOf } from '../../domain/delivery/order-key.ts'
import type { RequestView } from '../../domain/routing/event-path.ts'
import type { Program } from './compile.ts'

/** The values of one instance: as it was claimed, and as a run changes it. Times are milliseconds. */

export type InstanceKey = { readonly workspace_id: string; readonly project_id: string; readonly id: string }

/** One claim of an instance. Each claim raises the fence, so work of an earlier claim is recognizable. */
export type Held = InstanceKey & { readonly fence: number }

/** The memory of an instance between its commits: the values that templates read, and the step under way. */
export type Memory = {
  readonly payload: unknown
  /** Absent: no step reads the request, or no sender sent the record. */
  readonly request?: RequestView
  readonly received_at: string
  readonly chain: string | null
  /** By the id of the step. A step that failed and was passed over has an error and no output. */
  readonly steps: Readonly<Record<string, { readonly output?: unknown; readonly error?: StepError }>>
  /** The records of `emit_event` steps that a later `deliver` may name. */
  readonly emitted: Readonly<Record<string, { readonly record_id: string; readonly payload: unknown }>>
  /** The number of the next row of step runs. */
  readonly seq: number
  /** The step that is parked, with the row that shows it. */
  readonly open: { readonly seq: number; readonly started_at: number } | null
}

export type StepError = { readonly step_id?: string; readonly reason: string; readonly message: string }

/** The outcome that an instance waited for; undefined: it has not come yet, or did not come in time. */
export type Awaited =
  | {
      readonly kind: 'event'
      readonly record_id: string
      readonly received_at: string | null
      /** undefined: the record was deleted after its retention. */
      readonly payload: unknown
    }
  | {
      readonly kind: 'delivery'
      readonly id: string
      /** undefined: the delivery was deleted after its retention. */
      readonly state: DeliveryState | undefined
      readonly last_status: number | null
      readonly response_body: string | null
    }
  | {
      readonly kind: 'ai_run'
      readonly id: string
      readonly state: string | undefined
      readonly output: unknown
      readonly error: unknown
    }

/** A claimed instance with everything that the machine needs to run it to its next stop. */
export type Instance = Held & {
  readonly workflow: { readonly id: string; readonly version: number }
  /** undefined: the workflow was deleted, with its versions. */
  readonly program: Program | undefined
  /** `root`: the event that led to the record through workflows and agents, or its own event. */
  readonly record: { readonly id: string; readonly dataset: string; readonly hops: number; readonly root: string }
  /** False after the retention of the record has ended. */
  readonly record_stored: boolean
  readonly cursor: number
  /** The number of failed attempts at the present step. */
  readonly attempt: number
  /** undefined: the instance has never run, and its record is gone. */
  readonly memory: Memory | undefined
  readonly awaited: Awaited | undefined
}

/** The parts of the project that the steps of its workflows use. */
export type Place = {
  /** By UUID; undefined: there is no such destination. */
  destination(id: string): { readonly enabled: boolean; readonly orderKeyOf: OrderKeyOf | undefined } | undefined
  /** Deliveries count in a monthly allowance. */
  readonly counted: boolean
}

/** The record that a commit of `emit_event` stored, or the reason why the road refused it. */
export type Emitted =
  | { readonly ok: true; readonly record_id: string }
  | { readonly ok: false; readonly reason: string; readonly message: string }

export type Emission = {
  readonly step_id: string
  readonly dataset: string
  readonly text: string
  /** The customer_id of the event; absent: it names no customer. */
  readonly customer?: string
}

export type StepRun = {
  readonly seq: number
  readonly step_id: string
  readonly type: string
  readonly attempt: number
  readonly state: 'waiting' | 'succeeded' | 'failed' | 'skipped'
  readonly input: unknown
  readonly output: unknown
  readonly error: StepError | null
  readonly started_at: number
  readonly ended_at: number | null
}

export type DeliveryOut = {
  readonly id: string
  readonly record_id: string
  readonly destination_id: string
  readonly pause_reason: 'destination_disabled' | 'allowance_used' | null
  readonly order_key: string | null
}

export type AiRunOut = {
  readonly id: string
  readonly agent_id: string
  readonly step_id: string
  readonly request: unknown
}

export type Wait =
  | {
      readonly kind: 'event'
      readonly dataset: string
      readonly path: string
      readonly key: Buffer
      readonly conditions: readonly Condition[]
      /** Records since the start of the instance end it too. */
      readonly looksBack: boolean
      /** The records that earlier steps filed or waited for, which do not end it. */
      readonly past: readonly string[]
    }
  | { readonly kind: 'delivery' | 'ai_run'; readonly id: string }

/** The place where a run of an instance stopped. */
export type Stop =
  /** The commit must store an event, and the steps after it may need its record. */
  | { readonly kind: 'emitting'; readonly emission: Emission }
  | {
      readonly kind: 'parked'
      readonly state: 'sleeping' | 'waiting' | 'retrying'
      readonly due_at: number
      readonly wait: Wait | null
    }
  | { readonly kind: 'ended'; readonly state: 'completed' | 'failed' | 'cancelled'; readonly error: StepError | null }
