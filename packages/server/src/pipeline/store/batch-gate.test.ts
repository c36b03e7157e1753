import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { BATCH_GATE_DEFAULTS, BatchGate } from './batch-gate.ts'
import type { BatchGateLimits } from './batch-gate.ts'

const gateOf = (limits: Partial<BatchGateLimits<number>> = {}) =>
  new BatchGate<number>({ ...BATCH_GATE_DEFAULTS, ...limits, bytesOf: (item) => item })

test('an idle gate starts at once; while two batches are in flight the rest gathers', () => {
  const gate = gateOf()
  assert.deepEqual(gate.enqueue(1), [[1]])
  assert.deepEqual(gate.enqueue(2), [[2]])
  assert.deepEqual(gate.enqueue(3), [])
  assert.deepEqual(gate.enqueue(4), [])
  assert.deepEqual(gate.finished(), [[3, 4]])
  assert.deepEqual(gate.finished(), [])
  assert.deepEqual(gate.enqueue(5), [[5]])
})

test('a batch has at most so many items and so many bytes', () => {
  const gate = gateOf({ batchItemsMax: 3, batchBytesMax: 10, batchesInFlightMax: 1 })
  gate.enqueue(1)
  for (const item of [1, 1, 1, 1, 6, 6]) gate.enqueue(item)
  assert.deepEqual(gate.finished(), [[1, 1, 1]])
  assert.deepEqual(gate.finished(), [[1, 6]])
  assert.deepEqual(gate.finished(), [[6]])
})

test('an item larger than a batch travels alone', () => {
  const gate = gateOf({ batchBytesMax: 10, batchesInFlightMax: 1 })
  gate.enqueue(1)
  for (const item of [99, 1]) gate.enqueue(item)
  assert.deepEqual(gate.finished(), [[99]])
  assert.deepEqual(gate.finished(), [[1]])
})

test('a full gate takes nothing more until there is room', () => {
  const gate = gateOf({ waitingItemsMax: 1, batchesInFlightMax: 1 })
  assert.deepEqual(gate.enqueue(1), [[1]])
  assert.deepEqual(gate.enqueue(2), [])
  assert.equal(gate.enqueue(3), 'full')
  assert.deepEqual(gate.finished(), [[2]])
  assert.deepEqual(gate.enqueue(4), [])
})

test('a batch that never started cannot finish', () => {
  assert.throws(() => gateOf().finished())
})

test('whatever the order of arrivals and commits: nothing is lost, repeated, overtaken, or beyond a limit', () => {
  fc.assert(
    fc.property(fc.array(fc.option(fc.integer({ min: 1, max: 20 })), { maxLength: 200 }), (steps) => {
      const gate = new BatchGate<{ order: number; bytes: number }>({
        batchItemsMax: 4,
        batchBytesMax: 30,
        batchesInFlightMax: 2,
        waitingItemsMax: 50,
        bytesOf: ({ bytes }) => bytes,
      })
      const started: number[] = []
      let taken = 0
      const inFlight = { batches: 0 }
      const start = (batches: readonly (readonly { order: number; bytes: number }[])[]) => {
        for (const batch of batches) {
          inFlight.batches += 1
          assert.ok(batch.length <= 4 && batch.reduce((sum, { bytes }) => sum + bytes, 0) <= 30)
          started.push(...batch.map(({ order }) => order))
        }
        assert.ok(inFlight.batches <= 2)
      }
      const finish = () => {
        inFlight.batches -= 1
        start(gate.finished())
      }
      for (const bytes of steps) {
        const batches = bytes === null ? [] : gate.enqueue({ order: taken, bytes })
        if (bytes === null && inFlight.batches > 0) finish()
        if (bytes !== null && batches !== 'full') {
          taken += 1
          start(batches)
        }
      }
      while (inFlight.batches > 0) finish()
      assert.deepEqual(started, Array.from({ length: taken }, (_, order) => order))
    }),
  )
})
