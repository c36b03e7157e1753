import fc from 'fast-check'
import type { StoreRows } from './store-rows.ts'
import { KINDS, type Step } from './store-step.ts'
import { Twin } from './store-twin.ts'

const OFTEN: Partial<Record<Step['kind'], number>> = { turn: 10, lease: 6, ingest: 4, advance: 4, read: 2, replay: 2 }

/**
 * Runs this many orders of operations, each on the store and on its model, which must agree; returns the names of
 * everything that occurred in them.
 */
export async function playOrders(rows: StoreRows, runs: number): Promise<ReadonlySet<string>> {
  const step = fc.record({
    kind: fc.oneof(...KINDS.map((kind) => ({ weight: OFTEN[kind] ?? 1, arbitrary: fc.constant(kind) }))),
    lane: fc.nat(5),
    n: fc.nat(200),
    m: fc.nat(200),
  })
  const seen = new Set<string>()
  const property = fc.asyncProperty(fc.array(step, { maxLength: 60, size: 'max' }), async (steps) => {
    await rows.clear()
    const one = await rows.aWorkspace()
    const twin = new Twin(rows, [
      await rows.aLane(one),
      await rows.aLane(one),
      await rows.aLane(undefined, { path: 'key' }),
    ])
    // A change of a destination comes after its creation.
    rows.clock.advance(1)
    // oxlint-disable-next-line no-await-in-loop -- the test is about the order of operations
    for (const each of steps) await twin.do(each)
    for (const what of twin.seen) seen.add(what)
  })
  await fc.assert(property, {
    numRuns: Number(process.env['STORE_RUNS'] ?? runs),
    seed: Number(process.env['STORE_SEED'] ?? 12),
    includeErrorInReport: true,
    // Shrinking a failure takes minutes, so only STORE_SHRINK=1 turns it on.
    endOnFailure: process.env['STORE_SHRINK'] === undefined,
  })
  return seen
}
