import assert from 'node:assert/strict'
import { test } from 'node:test'
import { askAtRandom, onFuzzStage } from '../stage/admin-fuzz.ts'

onFuzzStage()

test('no request causes a 5xx, every answer agrees with /openapi.json, and an admitted caller calls each operation', async () => {
  const { statuses, neverLetIn } = await askAtRandom(8)
  assert.deepEqual(neverLetIn, [])
  // Some of the random requests are accepted.
  for (const status of [200, 201, 400, 404])
    assert.ok(
      (statuses.get(status) ?? 0) > 20,
      `${status} came ${statuses.get(status) ?? 0} times of ${JSON.stringify([...statuses])}`,
    )
})
