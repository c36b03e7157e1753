/**
 * What the delivery machine asks of the world and what the world answers. The executor turns effects into I/O and answers
 * back into events. Durations are in ms and relative, so no two clocks are ever compared.
 */
import type { ERROR_CODES } from '@postroad/contract'
import type { AttemptOutcome, DeliveryState } from '../../domain/delivery/delivery-state.ts'
import type { Others } from '../../domain/delivery/fair-share.ts'
import type { LaneMemory } from '../../domain/delivery/lane-memory.ts'
import type { RateLimit } from '../../domain/delivery/rate-window.ts'

/** A destination of a workspace. The machine never looks inside; the executor makes and splits it. */
export type LaneKey = string

/** One grant of a lane. The fence rises with each grant, so work done under an older one can be told apart. */
export interface Held {
  readonly lane: LaneKey
  readonly fence: number
}

export interface LaneSettings {
  readonly max_in_flight: number
  readonly schedule_seconds: readonly number[]
  readonly timeout_ms: number
  readonly rate_limit: RateLimit | null
  /** Rises when somebody closes the breaker by hand. */
  readonly breaker_resets: number
  /** Rises when somebody asks for a probe at once. */
  readonly probes_asked: number
  /** Deliveries may have keys: of those with the same one only the first that is outstanding may be begun. */
  readonly ordered: boolean
}

/** `refused`: certainly not committed. `unknown`: perhaps committed. Every operation is answered, late or not. */
export type Answer<Value> =
  | { readonly outcome: 'done'; readonly value: Value }
  | { readonly outcome: 'refused' | 'unknown' }

/**
 * Grants lanes with work: due deliveries, or deliveries left `sending` by an owner that is gone. One transaction, which
 * extends the owner's lease, raises each granted lane's fence and recovers it: open attempts become `interrupted`, their
 * deliveries `retrying` and due. Their requests are orphans, unless the previous owner has said that it ended or gave the
 * lane back; they are kept until they have ended at the latest, whoever is granted the lane meanwhile. Lanes of a disabled destination or a suspended workspace are recovered to `paused` and
 * not granted. A lane is free when it has no owner or its owner's lease has run out; one whose noted breaker is open is
 * granted when its next probe is due, and before that only if something was left `sending` in it. An owner whose lease has run out is
 * not revived: the answer is `alive: false`. A serial that is not higher than the owner's last one does nothing: it is a
 * call that was given up and came to life late.
 */
export interface LeaseInput {
  readonly owner: string
  readonly lease_ms: number
  /** Kept on each lane granted by this call. */
  readonly serial: number
  /** First frees this owner's lanes with this serial or a later one: grants whose answer never came. */
  readonly doubtful_from: number | null
  readonly wanted: readonly LaneKey[]
  /** Also any lane with work, oldest due first. */
  readonly any_due: boolean
  readonly lanes_max: number
  /** `NO_SHARE` when left out. */
  readonly share?: Share
}

/** How an owner shares lanes with the other living owners. */
export interface Share {
  /** How many lanes it holds: what the others reckon with until it says so again. */
  readonly held: number
  /** Lanes that it has given back for others to take: not granted to it. */
  readonly avoid: readonly LaneKey[]
  /** Of any lanes with work it takes its fair part alone. Named lanes are granted all the same. */
  readonly fairly: boolean
}

/** It takes what it finds, and counts as one that holds nothing. */
export const NO_SHARE: Share = { held: 0, avoid: [], fairly: false }

export interface Grant extends Held {
  readonly settings: LaneSettings
  /** What its last owner noted, as old as it is by now; null when nothing was. */
  readonly memory: LaneMemory | null
  /** Of each orphan, a request of a previous owner that may still be under way: how long it can be, from now on, at the most. */
  readonly orphans_end_in_ms: readonly number[]
}

/**
 * What the lane's next owner is to know; null: nothing. The serial rises with each note of an owner, and a note that is not
 * newer than the one written under the same fence changes nothing: it comes from a call that came to life late.
 */
export interface Note extends Held {
  readonly serial: number
  readonly memory: LaneMemory | null
}

export interface Leased {
  readonly alive: boolean
  readonly grants: readonly Grant[]
  /** Wanted lanes that another owner holds, or whose next probe is not due. */
  readonly elsewhere: readonly LaneKey[]
  /** There was work in more lanes than `lanes_max`. */
  readonly more: boolean
  readonly others: Others
  /** Lanes with work were left for the other owners. */
  readonly left: boolean
}

/** The lease belongs to the owner, not to each lane: one row is written per heartbeat, however many lanes there are. */
export interface RenewInput {
  readonly owner: string
  readonly lease_ms: number
  /** How many lanes it holds. */
  readonly held: number
}

export interface Renewed {
  readonly alive: boolean
  readonly others: Others
}

/** `all` ends the owner's lease as well. A lane whose fence has moved on is left alone. Without a note the last one stays. */
export interface ReleaseInput {
  readonly owner: string
  readonly lanes: readonly (Held & { readonly note?: Pick<Note, 'serial' | 'memory'> })[] | 'all'
}

export interface ReadInput {
  readonly reads: readonly LaneReadInput[]
}

export interface LaneReadInput extends Held {
  readonly limit: number
  /** Deliveries the machine already has. */
  readonly exclude: readonly string[]
  /** As the settings said last. */
  readonly ordered?: boolean
  /** What came in more than a day ago, by the machine's clock, may be left out. Not where an order is kept. */
  readonly recent?: boolean
}

/** Due deliveries of one lane: first attempts before retries, oldest due first. */
export interface LaneRead extends Held {
  readonly status: 'held' | 'paused' | 'lost'
  readonly settings: LaneSettings
  readonly due: readonly string[]
  /** Until the first delivery that is not due yet; null when there is none. */
  readonly next_due_in_ms: number | null
}

export interface ReadAnswer {
  readonly lanes: readonly LaneRead[]
}

/** One transaction: settles finished attempts, then begins new ones. It locks the lanes it names, so no grant slips between. */
export interface TurnInput {
  readonly settles: readonly Settle[]
  readonly begins: readonly Begin[]
  /** Written under their fences. No lane stands in two turns that are under way at once. */
  readonly notes?: readonly Note[]
}

/**
 * Inserts the attempt and moves the delivery to `sending`. Guarded: the fence is the lane's, the lane is not paused, the
 * delivery is pending or retrying, it is due, and nothing with the same key before it is outstanding.
 */
export interface Begin extends Held {
  readonly delivery_id: string
  /** As the settings said last; without it a delivery that has a key is not begun. */
  readonly ordered?: boolean
}

/**
 * Writes how an attempt ended. Guarded: the attempt is open, and its fence is the lane's. Idempotent because of that. The
 * store turns `retrying` into `paused` when the lane is paused by now.
 */
export interface Settle extends Held {
  readonly delivery_id: string
  readonly attempt_id: string
  readonly outcome: AttemptOutcome
  readonly next: Extract<DeliveryState, 'delivered' | 'retrying' | 'failed' | 'paused'>
  readonly error_code: ErrorCode | null
  /** Set exactly when `next` is `retrying`. */
  readonly next_attempt_in_ms: number | null
  /** Whether a failure uses up a step of the schedule; that of a breaker's probe does not. */
  readonly counts: boolean
  /** The receiver answered 410, or nothing has succeeded for days: disable the destination and pause what waits for it. */
  readonly disable_destination: 'gone' | 'failing' | null
  /** What the executor saw, for the attempt's row; null when no request was made. */
  readonly result: HttpResult | null
}

export interface Turned {
  readonly begun: readonly Begun[]
  /** Attempts whose settle changed something. */
  readonly applied: readonly string[]
  /** Lanes of begins that were refused because the lane is paused, or because the fence has moved on. */
  readonly paused: readonly Held[]
  readonly lost: readonly Held[]
}

/** A committed attempt. Its facts are read under the lock of the begin, so they cannot be stale. */
export interface Begun extends Held {
  readonly delivery_id: string
  readonly attempt_id: string
  readonly record_id: string
  /** Counts all attempts of the delivery, from 1. */
  readonly attempt_number: number
  /** Failures since the last replay: the position in the schedule. */
  readonly failure_count: number
  /** What the executor needs to build the request; handed back with `send`, unread. */
  readonly payload?: unknown
}

export type ErrorCode = (typeof ERROR_CODES)[number]

/** `response`: the head came complete. `failure`: it did not. A redirect or a status is never a failure of the request. */
export type HttpResult =
  | {
      readonly type: 'response'
      readonly status: number
      readonly retry_after_seconds: number | null
      readonly evidence?: unknown
    }
  | { readonly type: 'failure'; readonly error_code: ErrorCode; readonly evidence?: unknown }

export type Effect =
  | { readonly type: 'lease'; readonly op: number; readonly input: LeaseInput }
  | { readonly type: 'renew'; readonly op: number; readonly input: RenewInput }
  /** `offered`: of these lanes those that other owners should take; once they are released the others are notified. */
  | {
      readonly type: 'release'
      readonly op: number
      readonly input: ReleaseInput
      readonly offered: readonly LaneKey[]
    }
  | { readonly type: 'read'; readonly op: number; readonly input: ReadInput }
  | { readonly type: 'turn'; readonly op: number; readonly input: TurnInput }
  /** `ends_in_ms`: from now on, and whatever its preparation takes. Others reckon with it only so long. */
  | { readonly type: 'send'; readonly attempt: Begun; readonly timeout_ms: number; readonly ends_in_ms: number }
  /** Breaks off every request, so that the next owners of the lanes need not reckon with them. */
  | { readonly type: 'cut' }
  /** Replaces the alarm set before. */
  | { readonly type: 'sleep'; readonly until: number }
  | { readonly type: 'stopped' }

/** An effect that the store answers. */
export type StoreCall = Extract<Effect, { readonly op: number }>

export type StoreAnswer =
  | { readonly type: 'leased'; readonly op: number; readonly answer: Answer<Leased> }
  | { readonly type: 'renewed'; readonly op: number; readonly answer: Answer<Renewed> }
  | { readonly type: 'released'; readonly op: number; readonly answer: Answer<null> }
  | { readonly type: 'read'; readonly op: number; readonly answer: Answer<ReadAnswer> }
  | { readonly type: 'turned'; readonly op: number; readonly answer: Answer<Turned> }

export type Event =
  /** The first one starts the machine. */
  | { readonly type: 'woke' }
  /** There may be new work in these lanes, after a local commit or a NOTIFY; or new settings, heeded even while a breaker is open. Never trusted alone. */
  | { readonly type: 'hinted'; readonly lanes: readonly LaneKey[]; readonly about?: 'work' | 'settings' }
  /** Another owner has given these lanes back because it holds more than its fair share. A hint. */
  | { readonly type: 'offered'; readonly lanes: readonly LaneKey[] }
  /** These lanes were paused: a hint too, it only makes the machine stop sooner. */
  | { readonly type: 'halted'; readonly lanes: readonly LaneKey[] }
  | { readonly type: 'responded'; readonly attempt_id: string; readonly result: HttpResult }
  | { readonly type: 'stop' }
  | StoreAnswer

/**
 * The store's port. The other three are plain: a clock that never goes back, a draw from [0, 1), and a request that ends
 * in an `HttpResult` and never rejects. Each operation must be answered in the end: one that hangs is `unknown`.
 */
export interface StorePort {
  lease(input: LeaseInput): Promise<Answer<Leased>>
  renew(input: RenewInput): Promise<Answer<Renewed>>
  release(input: ReleaseInput): Promise<Answer<null>>
  read(input: ReadInput): Promise<Answer<ReadAnswer>>
  turn(input: TurnInput): Promise<Answer<Turned>>
}
