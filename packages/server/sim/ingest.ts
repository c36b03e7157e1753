import { BATCH_GATE_DEFAULTS, BatchGate } from '../src/pipeline/store/batch-gate.ts'
import type { Scene } from './scene.ts'

interface IngestRequest {
  readonly deliveries: readonly {
    readonly delivery_id: string
    readonly record_id: string
    readonly lane: string
    readonly order_key: string | null
  }[]
}

/** A model of ingest: requests gather in the real gate, and each is answered when the result of its batch's commit is known. */
export class SimIngest {
  readonly #world: Scene
  readonly #gate = new BatchGate<IngestRequest>({
    ...BATCH_GATE_DEFAULTS,
    batchItemsMax: 4,
    besideItemsMin: 2,
    bytesOf: () => 1_000,
  })
  #records = 0

  constructor(world: Scene) {
    this.#world = world
  }

  /** One request arrives. It creates one record and a delivery for each of the lanes. */
  receive(lanes: readonly string[]): void {
    const { store } = this.#world
    const open = lanes.filter((lane) => !store.suspended.has(store.lane(lane).workspace))
    this.#records += 1
    const record_id = `r${this.#records}`
    // One record in five has no value for the order, and so its own key.
    const value = this.#world.rng.pick(['k0', 'k0', 'k1', 'k2', record_id])
    const keyOf = (lane: string): string | null => (store.lane(lane).settings.ordered ? value : null)
    const request = {
      deliveries: open.map((lane) => ({
        delivery_id: `${record_id}.${lane}`,
        record_id,
        lane,
        order_key: keyOf(lane),
      })),
    }
    if (this.#world.plant === 'ack-before-commit') this.#acknowledge([request])
    this.#gate.enqueue(request)
    this.#start()
  }

  #start(): void {
    for (const batch of this.#gate.due()) this.#commit(batch)
  }

  #commit(batch: readonly IngestRequest[]): void {
    const { agenda, plan, rng, store } = this.#world
    const latencyMs = rng.chance(plan.store.slow) ? rng.between(200, 8_000) : rng.between(1, 20)
    const roll = rng.next()
    const refused = roll < plan.store.refused
    const unknown = !refused && roll < plan.store.refused + plan.store.unknown
    const commit = () => {
      store.ingest(
        agenda.now,
        batch.flatMap((request) => request.deliveries),
      )
      this.#world.workChanged = true
    }
    if (unknown && rng.chance(0.6)) agenda.after(latencyMs * rng.between(0, 2), commit)
    agenda.after(latencyMs, () => {
      if (!refused && !unknown) {
        commit()
        if (this.#world.plant !== 'ack-before-commit') this.#acknowledge(batch)
        this.#world.notify('hinted', [
          ...new Set(batch.flatMap(({ deliveries }) => deliveries.map(({ lane }) => lane))),
        ])
      }
      this.#gate.finished()
      this.#start()
    })
  }

  #acknowledge(batch: readonly IngestRequest[]): void {
    const ids = batch.flatMap(({ deliveries }) => deliveries.map(({ delivery_id }) => delivery_id))
    this.#world.count('acknowledged', batch.length)
    this.#world.invariants.acknowledged(ids)
  }
}
