/**
 * The requests of the delivery machine to the outside world, and the answers. The executor turns effects into I/O, and answers
 * back into events. Durations are relative and in ms, so no two clocks are ever compared.
 */
import type { ERROR_CODES } from '@postroad/contract'
import type { AttemptOutcome, DeliveryState } from '../../domain/delivery/delivery-state.ts'
import type { Others } from '../../domain/delivery/fair-share.ts'
import type { LaneMemory } from '../../domain/delivery/lane-memory.ts'
import type { RateLimit } from '../../domain/delivery/rate-window.ts'

/** A destination of a workspace. The machine never looks inside; the executor builds and parses it. */
export type LaneKey = string

/** One grant of a lane. The fence rises with each grant, so work under an older fence is recognizable. */
export interface Held {
  readonly lane: LaneKey
  readonly fence: number
}

export interface LaneSettings {
  readonly max_in_flight: number
  readonly schedule_seconds: readonly number[]
  readonly timeout_ms: number
  readonly rate_limit: RateLimit | null
  /** Rises when someone closes the breaker manually. */
  readonly breaker_resets: number
  /** Rises when someone requests an immediate probe. */
  readonly probes_asked: number
  /** Deliveries may have keys: only the first outstanding delivery of each key may start. */
  readonly ordered: boolean
}

/** `refused`: certainly not committed. `unknown`: perhaps committed. Every operation gets an answer, however late. */
export type Answer<Value> =
  | { readonly outcome: 'done'; readonly value: Value }
  | { readonly outcome: 'refused' | 'unknown' }

/**
 * Grants lanes with work: due deliveries, or deliveries that a previous owner left `sending`. One transaction extends the owner's
 * lease, raises the fence of each granted lane and recovers the lane. docs/adr/0150 has the rules.
 */
export interface LeaseInput {
  /** An owner whose lease has expired is not revived: the answer is `alive: false`. */
  readonly owner: string
  readonly lease_ms: number
  /**
   * Stored on each lane that this call grants. A serial that is not higher than the owner's last one does nothing, because it comes
   * from an abandoned call that arrived late.
   */
  readonly serial: number
  /** The call first frees this owner's lanes with this serial or a later one: their grants got no answer. */
  readonly doubtful_from: number | null
  readonly wanted: readonly LaneKey[]
  /** The call also requests any lane with work, oldest due first. */
  readonly any_due: boolean
  readonly lanes_max: number
  /** Defaults to `NO_SHARE`. */
  readonly share?: Share
}

/** How an owner shares lanes with the other living owners. */
export interface Share {
  /** How many lanes the owner has. The others rely on this number until its next report. */
  readonly held: number
  /** Lanes that it has given back for others. It is not granted these. */
  readonly avoid: readonly LaneKey[]
  /** The owner takes only its fair part of the lanes that a sweep finds. Named lanes are granted anyway. */
  readonly fairly: boolean
}

/** The owner takes all that it finds, and counts as one without lanes. */
export const NO_SHARE: Share = { held: 0, avoid: [], fairly: false }

export interface Grant extends Held {
  /** The lanes of one workspace share slots. */
  readonly workspace: string
  readonly settings: LaneSettings
  /** The memory that its last owner persisted, aged to the present; null when there is none. */
  readonly memory: LaneMemory | null
  /** For each orphan (a request of a previous owner that may still be under way): the longest time that it can still take. */
  readonly orphans_end_in_ms: readonly number[]
}

/**
 * The memory for the lane's next owner; null when it needs none. The serial rises with each note of an owner. A note that is
 * not newer than the one written under the same fence changes nothing, because it comes from a call that arrived late.
 */
export interface Note extends Held {
  readonly serial: number
  readonly memory: LaneMemory | null
}

export interface Leased {
  readonly alive: boolean
  readonly grants: readonly Grant[]
  /** Requested lanes that another process owns, or whose next probe is not due. */
  readonly elsewhere: readonly LaneKey[]
  /** More lanes than `lanes_max` had work. */
  readonly more: boolean
  readonly others: Others
  /** The call left lanes with work to the other owners. */
  readonly left: boolean
}

/** The lease belongs to the owner, not to each lane, so a heartbeat writes one row, however many lanes there are. */
export interface RenewInput {
  readonly owner: string
  readonly lease_ms: number
  /** How many lanes the owner has. */
  readonly held: number
}

export interface Renewed {
  readonly alive: boolean
  readonly others: Others
}

/**
 * `all` also ends the owner's lease. A lane whose fence has moved on is left alone. Without a note, the previous memory
 * remains.
 */
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
  /** `ordered` of the lane's last settings. */
  readonly ordered?: boolean
  /** Deliveries that came in more than a day ago, by the machine's clock, may be left out. Not used for lanes with an order. */
  readonly recent?: boolean
}

/** Due deliveries of one lane: first attempts before retries, oldest due first. */
export interface LaneRead extends Held {
  readonly status: 'held' | 'paused' | 'lost'
  readonly settings: LaneSettings
  readonly due: readonly string[]
  /** The time until the first delivery that is not due yet falls due; null when there is none. */
  readonly next_due_in_ms: number | null
}

export interface ReadAnswer {
  readonly lanes: readonly LaneRead[]
}

/**
 * One transaction: settles finished attempts, then starts new ones. It locks the lanes that it names, so no grant can come in
 * between.
 */
export interface TurnInput {
  readonly settles: readonly Settle[]
  readonly begins: readonly Begin[]
  /** Written under their fences. A lane is never in two turns at the same time. */
  readonly notes?: readonly Note[]
}

/**
 * Inserts the attempt and moves the delivery to `sending`. Conditions: the fence is the lane's, the lane is not paused, the
 * delivery is pending or retrying and due, and no earlier delivery with the same key is outstanding.
 */
export interface Begin extends Held {
  readonly delivery_id: string
  /** `ordered` of the lane's last settings. Without it, a delivery that has a key does not start. */
  readonly ordered?: boolean
}

/**
 * Writes how an attempt ended. Conditions: the attempt is open, and its fence is the lane's; so a repeated settle changes
 * nothing. The store turns `retrying` into `paused` when the lane is paused by now.
 */
export interface Settle extends Held {
  readonly delivery_id: string
  readonly attempt_id: string
  readonly outcome: AttemptOutcome
  readonly next: Extract<DeliveryState, 'delivered' | 'retrying' | 'failed' | 'paused' | 'cancelled'>
  readonly error_code: ErrorCode | null
  /** Set exactly when `next` is `retrying`. */
  readonly next_attempt_in_ms: number | null
  /** Whether a failure uses up a step of the schedule. The failure of a breaker's probe does not. */
  readonly counts: boolean
  /** The receiver answered 410, or nothing has succeeded for days: disable the destination and pause its waiting deliveries. */
  readonly disable_destination: 'gone' | 'failing' | null
  /** The result that the executor observed, for the row of the attempt; null when no request was made. */
  readonly result: SendResult | null
}

/** A delivery that a commit is about to store. */
export interface Arrival {
  readonly lane: LaneKey
  readonly delivery_id: string
}

/** The first attempts that the commit of their deliveries starts. The event `turned` with this `op` reports its outcome. */
export interface FirstBegins {
  readonly op: number
  readonly begins: readonly Begin[]
}

export interface Turned {
  readonly begun: readonly Begun[]
  /** Attempts whose settle changed something. */
  readonly applied: readonly string[]
  /** Lanes whose starts were refused because the lane is paused, or because the fence has moved on. */
  readonly paused: readonly Held[]
  readonly lost: readonly Held[]
}

/** A committed attempt. Its facts were read under the lock of the turn, so they cannot be stale. */
export interface Begun extends Held {
  readonly delivery_id: string
  readonly attempt_id: string
  readonly record_id: string
  /** Counts all attempts of the delivery, from 1. */
  readonly attempt_number: number
  /** Failures since the last replay: the position in the schedule. */
  readonly failure_count: number
  /** The data that the executor needs to build the request. The machine passes it on with `send`, unread. */
  readonly payload?: unknown
}

export type ErrorCode = (typeof ERROR_CODES)[number]

/**
 * The end of one send. `unsent`: this process had no memory for the payload, so it made no request. `response`: the complete head of an HTTP answer arrived; a redirect or a status is never a failure of the request.
 * `accepted`: a destination beyond HTTP has the event. `skipped`: the destination wants no request for it. `failure`: none of these. `permanent`: no later attempt of this event could succeed.
 */
export type SendResult =
  | {
      readonly type: 'response'
      readonly status: number
      readonly retry_after_seconds: number | null
      readonly evidence?: unknown
    }
  | { readonly type: 'unsent'; readonly evidence?: undefined }
  | { readonly type: 'accepted'; readonly evidence?: unknown }
  | { readonly type: 'skipped'; readonly evidence?: unknown }
  | {
      readonly type: 'failure'
      readonly error_code: ErrorCode
      readonly permanent?: boolean
      readonly evidence?: unknown
    }

export type Effect =
  | { readonly type: 'lease'; readonly op: number; readonly input: LeaseInput }
  | { readonly type: 'renew'; readonly op: number; readonly input: RenewInput }
  /** `offered`: those of these lanes that other owners should take. After the release, the executor notifies them. */
  | {
      readonly type: 'release'
      readonly op: number
      readonly input: ReleaseInput
      readonly offered: readonly LaneKey[]
    }
  | { readonly type: 'read'; readonly op: number; readonly input: ReadInput }
  | { readonly type: 'turn'; readonly op: number; readonly input: TurnInput }
  /** `ends_in_ms`: counted from now, including its preparation. Other owners reserve a slot for it only this long. */
  | { readonly type: 'send'; readonly attempt: Begun; readonly timeout_ms: number; readonly ends_in_ms: number }
  /** Cuts off every request, so that the next owners of the lanes need not reserve slots for them. */
  | { readonly type: 'cut' }
  /** Replaces the timer that was set before. */
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
  /**
   * These lanes may have new work, after a local commit or a NOTIFY; or new settings, which are read even while a breaker is
   * open. The machine never relies on hints alone.
   */
  | { readonly type: 'hinted'; readonly lanes: readonly LaneKey[]; readonly about?: 'work' | 'settings' }
  /** Another owner has given these lanes back because it has more than its fair share. A hint. */
  | { readonly type: 'offered'; readonly lanes: readonly LaneKey[] }
  /** These lanes were paused. Also a hint: it only makes the machine stop sooner. */
  | { readonly type: 'disabled'; readonly lanes: readonly LaneKey[] }
  | { readonly type: 'responded'; readonly attempt_id: string; readonly result: SendResult }
  | { readonly type: 'stop' }
  | StoreAnswer

/**
 * The store's port. The other three ports are simple: a clock that never goes back, a random number from [0, 1), and a request
 * that ends in a `SendResult` and never rejects. Each operation must get an answer in the end: if it hangs, `unknown`.
 */
export interface StorePort {
  lease(input: LeaseInput): Promise<Answer<Leased>>
  renew(input: RenewInput): Promise<Answer<Renewed>>
  release(input: ReleaseInput): Promise<Answer<null>>
  read(input: ReadInput): Promise<Answer<ReadAnswer>>
  turn(input: TurnInput): Promise<Answer<Turned>>
}
