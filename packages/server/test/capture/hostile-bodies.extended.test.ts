import assert from 'node:assert/strict'
import { test } from 'node:test'
import { filedText, post } from '../stage/fixtures.ts'
import type { World } from '../stage/harness.ts'
import { onWorldStage } from '../stage/world-stage.ts'

let world: World

onWorldStage(
  (made) => {
    ;({ world } = made)
  },
  { env: { INGEST_BODY_BYTES: '5242880' }, loops: [] },
)

test('10^6 keys, all equal or all different, are accepted whole', async () => {
  const same = `{${'"":0,'.repeat(1_000_000)}"":1}`
  const different = `{${Array.from({ length: 400_000 }, (_, at) => `"${at.toString(36)}":0`).join(',')}}`
  for (const body of [same, different]) {
    const answer = await post(world.endpoint, body)
    assert.equal(answer.status, 201)
    assert.equal(await filedText(world, answer), body)
  }
})
