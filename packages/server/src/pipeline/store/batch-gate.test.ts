import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { BATCH_GATE_DEFAULTS, BatchGate } from './batch-gate.ts'
import type { BatchGateLimits } from './batch-gate.ts'

const gateOf = (limits: Partial<BatchGateLimits<number>> = {}) =>
  new BatchGate<number>({ ...BATCH_GATE_DEFAULTS, ...limits, bytesOf: (item) => item })

const taking = (gate: BatchGate<number>, items: readonly number[]) => items.map((item) => gate.enqueue(item))

test('an idle gate starts immediately, and starts a batch beside one in flight when enough items have gathered', () => {
  const gate = gateOf({ besideItemsMin: 3 })
  taking(gate, [1, 2])
  assert.deepEqual(gate.due(), [[1, 2]])
  taking(gate, [3, 4])
  assert.deepEqual(gate.due(), [])
  taking(gate, [5])
  assert.deepEqual(gate.due(), [[3, 4, 5]])
  taking(gate, [6, 7, 8])
  assert.deepEqual(gate.due(), [], 'two are in flight')
  gate.finished()
  assert.deepEqual(gate.due(), [[6, 7, 8]])
  taking(gate, [9])
  gate.finished()
  assert.deepEqual(gate.due(), [], 'one is still in flight')
  gate.finished()
  assert.deepEqual(gate.due(), [[9]])
})

test('a batch respects its limits of items and bytes', () => {
  const gate = gateOf({ batchItemsMax: 3, batchBytesMax: 10, batchesInFlightMax: 1 })
  taking(gate, [1, 1, 1, 1, 6, 6])
  const batches = [1, 2, 3].map(() => {
    const due = gate.due()
    gate.finished()
    return due
  })
  assert.deepEqual(batches, [[[1, 1, 1]], [[1, 6]], [[6]]])
})

test('an item larger than the byte limit gets a separate batch', () => {
  const gate = gateOf({ batchBytesMax: 10, batchesInFlightMax: 1 })
  taking(gate, [99, 1])
  assert.deepEqual(gate.due(), [[99]])
  gate.finished()
  assert.deepEqual(gate.due(), [[1]])
})

test('a full gate accepts nothing more until there is room', () => {
  const gate = gateOf({ waitingItemsMax: 1, batchesInFlightMax: 1 })
  assert.deepEqual(taking(gate, [1, 2]), ['taken', 'full'])
  assert.deepEqual(gate.due(), [[1]])
  assert.deepEqual(taking(gate, [3, 4]), ['taken', 'full'])
  gate.finished()
  assert.deepEqual(gate.due(), [[3]])
})

test('a gate is full when too many bytes wait, until a batch takes them; an item larger than the limit waits alone', () => {
  const gate = gateOf({ waitingBytesMax: 10, batchesInFlightMax: 1 })
  assert.deepEqual(taking(gate, [6, 4, 1]), ['taken', 'taken', 'full'])
  assert.deepEqual(gate.due(), [[6, 4]])
  assert.deepEqual(taking(gate, [99, 1]), ['taken', 'full'])
  gate.finished()
  assert.deepEqual(gate.due(), [[99]])
  assert.deepEqual(taking(gate, [10]), ['taken'])
})

test('a batch that never started cannot finish', () => {
  assert.throws(() => gateOf().finished())
})

test('in any order of arrivals and commits, a gate loses, repeats and overtakes no item, and exceeds no limit', () => {
  fc.assert(
    fc.property(fc.array(fc.option(fc.integer({ min: 1, max: 20 })), { maxLength: 200 }), (steps) => {
      const gate = new BatchGate<{ order: number; bytes: number }>({
        batchItemsMax: 4,
        batchBytesMax: 30,
        batchesInFlightMax: 2,
        besideItemsMin: 2,
        waitingItemsMax: 50,
        waitingBytesMax: 300,
        bytesOf: ({ bytes }) => bytes,
      })
      const started: number[] = []
      let taken = 0
      const inFlight = { batches: 0 }
      const start = () => {
        for (const batch of gate.due()) {
          inFlight.batches += 1
          assert.ok(batch.length <= 4 && batch.reduce((sum, { bytes }) => sum + bytes, 0) <= 30)
          started.push(...batch.map(({ order }) => order))
        }
        assert.ok(inFlight.batches <= 2)
      }
      const finish = () => {
        inFlight.batches -= 1
        gate.finished()
        start()
      }
      for (const bytes of steps) {
        if (bytes === null && inFlight.batches > 0) finish()
        if (bytes !== null && gate.enqueue({ order: taken, bytes }) === 'taken') {
          taken += 1
          start()
        }
      }
      while (inFlight.batches > 0) finish()
      assert.deepEqual(
        started,
        Array.from({ length: taken }, (_, order) => order),
      )
    }),
  )
})
