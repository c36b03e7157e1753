/**
 * How a process gets the secrets that sign its requests: the product's own cache and rules, with reads that take time and may
 * fail.
 */
import { TargetCache, type Reading } from '../src/pipeline/deliver/target-cache.ts'
import { secretsToSign, type SigningSecrets } from '../src/domain/delivery/signing-secrets.ts'
import type { Scene } from './scene.ts'

type Waiting = (() => void)[]

/** The clocks of a process: the difference of each from the database's, in ms. */
interface Clocks {
  /** Measured now and then, so the difference is always small. */
  readonly alignedMs: number
  /** Nobody measures the machine's own clock. */
  readonly skewMs: number
}

export class SimSender {
  readonly #world: Scene
  readonly #clocks: Clocks
  /** Runs a function when the process is awake, if the process is still alive then. */
  readonly #whenAwake: (run: () => void) => void
  readonly #cache = new TargetCache<SigningSecrets, Waiting>()
  readonly #notifiedAt = new Map<string, number>()
  readonly #firstRead = new Map<string, SigningSecrets>()

  constructor(world: Scene, clocks: Clocks, whenAwake: (run: () => void) => void) {
    // oxlint-disable-line max-params -- the world, its clocks, and the wake-up
    this.#world = world
    this.#clocks = clocks
    this.#whenAwake = whenAwake
  }

  /** The destination of this lane has changed, and this process was notified. */
  forget(lane: string): void {
    if (this.#world.plant === 'ignored-notice') return this.#notified(lane)
    this.#cache.forget(lane)
    this.#notified(lane)
  }

  /** This process must know every rotation that it was notified of before this time. */
  notifiedAt(lane: string): number {
    return this.#notifiedAt.get(lane) ?? -Infinity
  }

  /** Calls back with the secrets that sign a request at that time; null: they could not be read. */
  prepare(lane: string, then: (secrets: readonly string[] | null) => void): void {
    const askedAt = this.#now
    const look = (): void => {
      const reading = this.#cache.find(lane, this.#now) ?? this.#read(lane)
      const use = (): void => {
        if (reading.done === undefined) return then(null)
        if (!this.#cache.serves(reading, askedAt)) return look()
        then(this.#sign(lane, reading.done.target))
      }
      if (reading.done === undefined) reading.waiting.push(use)
      else use()
    }
    look()
  }

  #sign(lane: string, target: SigningSecrets): readonly string[] {
    const { agenda, plant } = this.#world
    if (plant === 'wall-overlap') return secretsToSign(target, agenda.now + this.#clocks.skewMs)
    if (plant === 'no-overlap-signature') return [target.current]
    if (plant !== 'stale-secret') return secretsToSign(target, this.#now)
    const first = this.#firstRead.get(lane) ?? target
    this.#firstRead.set(lane, first)
    return secretsToSign(first, this.#now)
  }

  #read(lane: string): Reading<SigningSecrets, Waiting> {
    const { agenda, plan, rng, secrets } = this.#world
    const reading = this.#cache.begin(lane, { now: this.#now, waiting: [] })
    if (plan.rotations.length === 0) {
      this.#cache.ended(reading, secrets.of(lane))
      return reading
    }
    const latencyMs = rng.chance(plan.store.slow) ? rng.between(20, 2_000) : rng.between(1, 20)
    const fails = rng.chance(plan.store.refused)
    agenda.after(latencyMs * rng.next(), () => {
      const read = secrets.of(lane)
      const answer = (): void => {
        if (fails) this.#cache.drop(reading)
        else this.#cache.ended(reading, read)
        for (const use of reading.waiting) use()
      }
      agenda.after(latencyMs / 2, () => this.#whenAwake(answer))
    })
    return reading
  }

  #notified(lane: string): void {
    this.#notifiedAt.set(lane, this.#world.agenda.now)
  }

  get #now(): number {
    return this.#world.agenda.now + this.#clocks.alignedMs
  }
}
