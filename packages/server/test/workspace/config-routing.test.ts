import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Database } from '../../src/platform/db.ts'
import { predictsRouting, routesEqually } from '../stage/config-properties.ts'
import type { World } from '../stage/harness.ts'
import { onWorldStage } from '../stage/world-stage.ts'

/** The promises of a configuration about routing, for a few random projects; config-routing.extended.test.ts has more. */
let on: { readonly world: World; readonly database: Database }

onWorldStage(
  (made) => {
    on = made
  },
  { env: { ROLES: 'web', LOG_LEVEL: 'silent' }, loops: [] },
)

test('export → empty project → apply gives equal routing, and the plan of either is empty', async () => {
  assert.equal(await routesEqually(on, { projects: 5, events: 40, seed: 1 }), 200)
})

test('a plan predicts which stored payloads the road would route differently', async () => {
  assert.ok((await predictsRouting(on, { projects: 5, events: 40, seed: 2 })) > 20)
})
