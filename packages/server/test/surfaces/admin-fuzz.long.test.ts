import assert from 'node:assert/strict'
import { test } from 'node:test'
import { askAtRandom, onFuzzStage } from '../stage/admin-fuzz.ts'

onFuzzStage()

test('no request makes a 5xx, every answer is as /openapi.json says, and each operation is asked by somebody who is let in', async () => {
  const { statuses, neverLetIn } = await askAtRandom(8)
  assert.deepEqual(neverLetIn, [])
  // What is made at random is not so wrong that it is all refused.
  for (const status of [200, 201, 400, 404])
    assert.ok(
      (statuses.get(status) ?? 0) > 20,
      `${status} came ${statuses.get(status) ?? 0} times of ${JSON.stringify([...statuses])}`,
    )
})
