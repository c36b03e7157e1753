import { BATCH_GATE_DEFAULTS, BatchGate } from '../src/pipeline/store/batch-gate.ts'
import type { Begun } from '../src/pipeline/deliver/ports.ts'
import type { Acceptance, Player, Scene } from './scene.ts'

interface IngestRequest {
  readonly deliveries: readonly {
    readonly delivery_id: string
    readonly record_id: string
    readonly lane: string
    readonly order_key: string | null
  }[]
}

type Items = IngestRequest['deliveries']

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
    const { agenda, plan, rng } = this.#world
    const latencyMs = rng.chance(plan.store.slow) ? rng.between(200, 8_000) : rng.between(1, 20)
    const items = batch.flatMap((request) => request.deliveries)
    const worker = this.#accepting(items)
    const isUp = worker.up
    const by = worker.accept(items, latencyMs)
    // It died on the way to the commit, so nobody sends it.
    if (isUp && !worker.up) return this.#finished()
    if (this.#world.plant === 'start-before-commit') by?.answer({ outcome: 'done', value: begunOf(by, items) })
    const roll = rng.next()
    if (roll < plan.store.refused) {
      agenda.after(latencyMs, () => this.#failed(by, 'refused'))
      return
    }
    const commit = () => this.#store({ worker, by, items })
    if (roll < plan.store.refused + plan.store.unknown) {
      // As for a turn: never, already, or later than anyone expects.
      const appliesMs = rng.chance(0.3) ? rng.between(0, 10_000) : latencyMs * rng.between(0, 2)
      if (rng.chance(0.6)) agenda.after(appliesMs, commit)
      agenda.after(latencyMs, () => this.#failed(by, 'unknown'))
      return
    }
    const committedMs = rng.chance(0.75) ? latencyMs : latencyMs / 2
    agenda.after(committedMs, () => {
      const begun = commit()
      agenda.after(latencyMs - committedMs, () => this.#committed({ batch, by, begun }))
    })
  }

  /** Half of the batches come to the process that owns one of their lanes. */
  #accepting(items: Items): Player {
    const { rng, store, workers } = this.#world
    const [first] = items
    const owner = first === undefined ? null : store.lane(first.lane).owner
    const owning = workers.find(({ name }) => owner?.startsWith(`${name}.`))
    return owning !== undefined && rng.chance(0.5) ? owning : rng.pick(workers)
  }

  #store({ worker, by, items }: { worker: Player; by: Acceptance | undefined; items: Items }): readonly Begun[] {
    const { agenda, store } = this.#world
    const begun = store.ingest(agenda.now, { items, begins: by?.begins ?? [] })
    this.#world.workChanged = true
    if (begun.length > 0) this.#world.begun(worker, begun)
    return begun
  }

  #committed({
    batch,
    by,
    begun,
  }: {
    batch: readonly IngestRequest[]
    by: Acceptance | undefined
    begun: readonly Begun[]
  }) {
    // A process that has died answers nobody and announces nothing.
    if (by?.alive() ?? true) {
      if (this.#world.plant !== 'ack-before-commit') this.#acknowledge(batch)
      const started = new Set(begun.map(({ delivery_id }) => delivery_id))
      const others = batch
        .flatMap(({ deliveries }) => deliveries)
        .filter(({ delivery_id }) => !started.has(delivery_id))
      if (others.length > 0) this.#world.notify('hinted', [...new Set(others.map(({ lane }) => lane))])
      by?.answer({ outcome: 'done', value: begun })
    }
    this.#finished()
  }

  #failed(by: Acceptance | undefined, outcome: 'refused' | 'unknown'): void {
    by?.answer({ outcome })
    this.#finished()
  }

  #finished(): void {
    this.#gate.finished()
    this.#start()
  }

  #acknowledge(batch: readonly IngestRequest[]): void {
    const ids = batch.flatMap(({ deliveries }) => deliveries.map(({ delivery_id }) => delivery_id))
    this.#world.count('acknowledged', batch.length)
    this.#world.invariants.acknowledged(ids)
  }
}

/** For a plant: what the commit would answer. */
function begunOf({ begins }: Acceptance, items: Items): readonly Begun[] {
  const records = new Map(items.map(({ delivery_id, record_id }) => [delivery_id, record_id]))
  return begins.map(({ lane, fence, delivery_id }) => ({
    lane,
    fence,
    delivery_id,
    attempt_id: `${delivery_id}#1`,
    record_id: records.get(delivery_id) ?? '',
    attempt_number: 1,
    failure_count: 0,
  }))
}
