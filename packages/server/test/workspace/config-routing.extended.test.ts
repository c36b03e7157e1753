import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Database } from '../../src/platform/db.ts'
import { predictsRouting, routesEqually } from '../stage/config-properties.ts'
import type { World } from '../stage/harness.ts'
import { onWorldStage } from '../stage/world-stage.ts'

/** The promises of a configuration about routing, for many events. */
let on: { readonly world: World; readonly database: Database }

onWorldStage(
  (made) => {
    on = made
  },
  { env: { ROLES: 'web', LOG_LEVEL: 'silent' }, loops: [] },
)

test('export → empty project → apply gives equal routing for 10,000 stored payloads of 40 random projects', async () => {
  assert.equal(await routesEqually(on, { projects: 40, events: 250, seed: 100 }), 10_000)
})

test('a plan predicts the routing of 40 random projects', async () => {
  assert.ok((await predictsRouting(on, { projects: 40, events: 50, seed: 200 })) > 400)
})
