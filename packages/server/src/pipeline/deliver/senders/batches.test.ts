import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testClock } from '../../../platform/clock.ts'
import { Batches } from './batches.ts'

const BOUNDS = { key: 'a', bytes: 10, itemsMax: 3, bytesMax: 100, lingerMs: 1_000 }

function gathering() {
  const clock = testClock(0)
  const sent: string[][] = []
  const batches = new Batches<string, number>(clock, (items) => Promise.resolve(sent.push([...items])))
  return { clock, sent, batches }
}

test('a full batch is sent immediately, and each item gets its result', async () => {
  const { batches, sent, clock } = gathering()
  const results = ['x', 'y', 'z'].map((item) => batches.add(item, BOUNDS))
  assert.deepEqual(await Promise.all(results), [1, 1, 1])
  assert.deepEqual(sent, [['x', 'y', 'z']])
  assert.equal(clock.waiting(), 0, 'a batch that was sent leaves no timer')
})

test('a batch that is not full is sent when its first item has waited long enough', async () => {
  const { batches, sent, clock } = gathering()
  const first = batches.add('x', BOUNDS)
  clock.advance(999)
  void batches.add('y', BOUNDS)
  assert.deepEqual(sent, [])
  clock.advance(1)
  await first
  assert.deepEqual(sent, [['x', 'y']])
})

test('an item that would exceed the byte limit starts the next batch', async () => {
  const { batches, sent, clock } = gathering()
  const first = batches.add('x', { ...BOUNDS, bytes: 60 })
  const second = batches.add('y', { ...BOUNDS, bytes: 60 })
  await first
  assert.deepEqual(sent, [['x']])
  clock.advance(1_000)
  await second
  assert.deepEqual(sent, [['x'], ['y']])
})

test('items with another key are in another batch', async () => {
  const { batches, sent, clock } = gathering()
  const all = [batches.add('x', BOUNDS), batches.add('y', { ...BOUNDS, key: 'b' })]
  clock.advance(1_000)
  await Promise.all(all)
  assert.deepEqual(sent, [['x'], ['y']])
})

test('when the process stops, open batches are sent immediately, and later items do not wait', async () => {
  const { batches, sent, clock } = gathering()
  const waiting = [batches.add('x', BOUNDS), batches.add('y', { ...BOUNDS, key: 'b' })]
  batches.endWaits()
  await Promise.all([...waiting, batches.add('z', BOUNDS)])
  assert.deepEqual(sent, [['x'], ['y'], ['z']])
  assert.equal(clock.waiting(), 0)
})
