import assert from 'node:assert/strict'
import { act, cancel, ingest, ingestBeyond, letGo, probe, replayMany, suspend, toggle } from './store-pair-acts.ts'
import { lease, release, renew } from './store-pair-lanes.ts'
import { compareRows } from './store-pair-rows.ts'
import { read, turn } from './store-pair-turns.ts'
import { Pair } from './store-pair.ts'
import type { LaneAt, StoreRows } from './store-rows.ts'
import { LEASE_MS, ownerOf, type Step } from './store-step.ts'

type Operation = (pair: Pair, step: Step, at: LaneAt) => Promise<void> | void

const OPERATIONS: Readonly<Record<Step['kind'], Operation>> = {
  ingest: (pair, step, at) => ingest(pair, at, step),
  'ingest beyond': (pair, step, at) => ingestBeyond(pair, at, 1 + (step.n % 3)),
  'let go': (pair, step, at) => letGo(pair, at, 1 + (step.m % 4)),
  lease,
  renew: (pair, step) => renew(pair, { owner: ownerOf(step), lease_ms: LEASE_MS, held: step.n % 5 }),
  release,
  read,
  turn,
  switch: (pair, _step, at) => toggle(pair, at),
  suspend,
  replay: (pair, step) => act(pair, step, 'replay'),
  'replay many': replayMany,
  retry: (pair, step) => act(pair, step, 'retry'),
  probe: (pair, _step, at) => probe(pair, at),
  'cancel one': (pair, step) => act(pair, step, 'cancel'),
  cancel: (pair, _step, at) => cancel(pair, at),
  advance: ({ rows }, step) => rows.clock.advance([1, 700, 5_000, 30_000][step.n % 4] ?? 1),
}

/** Drives the model and PostgreSQL through the same operations and compares every answer and every row. */
export class Twin {
  readonly #pair: Pair

  constructor(rows: StoreRows, lanes: readonly LaneAt[]) {
    this.#pair = new Pair(rows, lanes)
  }

  get seen(): ReadonlySet<string> {
    return this.#pair.seen
  }

  async do(step: Step): Promise<void> {
    const at = this.#pair.lanes[step.lane % this.#pair.lanes.length]
    assert.ok(at)
    this.#pair.seen.add(step.kind)
    await OPERATIONS[step.kind](this.#pair, step, at)
    await compareRows(this.#pair)
  }
}
