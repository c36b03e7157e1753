import assert from 'node:assert/strict'
import { test } from 'node:test'
import { aRoute } from '../stage/delivery-routes.ts'
import type { World } from '../stage/harness.ts'
import { aFakeNats } from '../stage/nats-server.ts'
import { onWorldStage } from '../stage/world-stage.ts'

/**
 * NATS destinations, with a local server that speaks the part of the protocol that a publisher needs.
 * destination-kinds-opt-in.broker.test.ts has the real server.
 */
let world: World
onWorldStage(
  (made) => {
    ;({ world } = made)
  },
  { loops: [] },
)

const CONFIG = { kind: 'nats', subject: 'events' } as const
const STORED = { stream: 'EVENTS', seq: 7 }
const EXCEEDS = { error: { code: 400, err_code: 10_054, description: 'message size exceeds maximum allowed' } }
const FULL = { error: { code: 503, err_code: 10_077, description: 'maximum bytes exceeded' } }

for (const [what, wanted, expected] of [
  ['a message that the stream stored is delivered', { maxPayload: 1_048_576, answer: STORED }, ['delivered', null]],
  [
    'an event that is too large only with its headers fails for good',
    { maxPayload: 300, answer: STORED },
    ['failed', 'event_too_large'],
  ],
  [
    'an event that is too large for the stream fails for good',
    { maxPayload: 1_048_576, answer: EXCEEDS },
    ['failed', 'event_too_large'],
  ],
  ['a delivery to a full stream is retried', { maxPayload: 1_048_576, answer: FULL }, ['retrying', 'refused']],
] as const) {
  test(what, async (t) => {
    const to = await aRoute(world, await aFakeNats(t, wanted), { config: CONFIG })
    const { state, attempts } = await to.in(await to.send(), 'delivered', 'retrying', 'failed')
    assert.deepEqual([state, attempts[0].error_code], expected, attempts[0].error_detail)
  })
}
