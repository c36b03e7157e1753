import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createUuidv7, uuidsFrom, uuidv7Ms } from './ids.ts'

const UUID_V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

test('the ids of threads are in the order in which the process handed out their first ones', () => {
  const uuid = createUuidv7()
  const before = uuid(5)
  const [one, two] = [uuidsFrom(uuid(5)), uuidsFrom(uuid(5))]
  const after = uuid(5)
  const ofTwo = Array.from({ length: 300 }, two)
  const ofOne = Array.from({ length: 300 }, one)
  const all = [before, ...ofOne, ...ofTwo, after]
  assert.deepEqual(all, all.toSorted())
  assert.equal(new Set(all).size, all.length)
  for (const id of all) assert.deepEqual([UUID_V7.test(id), uuidv7Ms(id)], [true, 5])
})
