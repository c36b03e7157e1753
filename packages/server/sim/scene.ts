import type { Answer, Arrival, Begin, Begun } from '../src/pipeline/deliver/ports.ts'
import type { DeliverLimits } from '../src/pipeline/deliver/limits.ts'
import type { Agenda } from './agenda.ts'
import type { Invariants } from './invariants.ts'
import type { Plan } from './plan.ts'
import type { Rng } from './rng.ts'
import type { Delivery } from './rows.ts'
import type { Receiver } from './sink.ts'
import type { Plant } from './plants.ts'
import type { Secrets } from './secrets.ts'
import type { SimStore } from './store.ts'

/** A process of the world, as faults see it. */
export interface Player {
  readonly name: string
  readonly up: boolean
  readonly requests: readonly Begun[]
  clogged: boolean
  start(): void
  crash(): void
  pause(durationMs: number): void
  stop(): void
  hint(type: HintType, lanes: readonly string[]): void
  /** It is about to store new deliveries. undefined: it is not there to do it. */
  accept(arrivals: readonly Arrival[], latencyMs: number): Acceptance | undefined
}

/** A commit of new deliveries by a process. */
export interface Acceptance {
  /** The first attempts that the commit starts. */
  readonly begins: readonly Begin[]
  /** The process that asked for the commit has not died since. */
  readonly alive: () => boolean
  readonly answer: (answer: Answer<readonly Begun[]>) => void
}

/**
 * `hinted`: there may be work. `changed`: its settings or secrets have changed. `disabled`: it was turned off.
 * `offered`: its owner has given it back for others.
 */
export type HintType = 'hinted' | 'changed' | 'disabled' | 'offered'

/** The operations of a world that its parts may use. */
export interface Scene {
  readonly agenda: Agenda
  readonly limits: DeliverLimits
  /** The limits of the machines. They differ from `limits` when a plant removes a bound. */
  readonly machineLimits: DeliverLimits
  readonly rng: Rng
  readonly plan: Plan
  readonly plant: Plant | undefined
  readonly store: SimStore
  readonly secrets: Secrets
  readonly invariants: Invariants
  readonly workers: readonly Player[]
  readonly receivers: ReadonlyMap<string, Receiver>
  readonly tracing: boolean
  /** True once the faults have stopped. */
  readonly calm: boolean
  /** All destinations have work. A process without lanes continues to look for some, as it does in production. */
  crowded: boolean
  /** Set by every event that may have made work for workers that have none. */
  workChanged: boolean
  trace(line: string): void
  count(what: string, times?: number): void
  receiver(lane: string): Receiver
  anyDelivery(): Delivery | undefined
  begun(worker: Player, attempts: readonly Begun[]): void
  notify(type: HintType, lanes: readonly string[]): void
}
