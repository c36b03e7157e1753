import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fireCronTriggers } from '../../src/pipeline/sources/index.ts'
import { aName } from '../stage/fixtures.ts'
import { DATABASE } from '../stage/source-settings.ts'
import { asked, sourceDeps } from '../stage/source-stage.ts'
import type { World } from '../stage/harness.ts'
import { onWorldStage } from '../stage/world-stage.ts'

/** `search/correlate/{id}` of the parts of a project that make events without a sender. */
let world: World

onWorldStage(
  (made) => {
    ;({ world } = made)
  },
  { env: { ROLES: 'web' }, loops: [] },
)

test('the id of a cron trigger leads to the newest events that it made, and not to those of another one', async () => {
  const [first, other] = await Promise.all(
    ['0 0 1 1 *', '*/5 * * * *'].map(
      async (expression) =>
        (await asked(world, 'POST cron-triggers', { name: aName('trigger'), expression, dataset: 'ticks' }))
          .cron_trigger,
    ),
  )
  for (let run = 0; run < 3; run += 1) {
    world.clock.advance(300_000)
    // oxlint-disable-next-line no-await-in-loop -- each run follows the clock
    await fireCronTriggers(sourceDeps(world))
  }
  const { records } = await asked(world, 'GET records')
  const story = await asked(world, `GET search/correlate/${other.id}`)
  assert.deepEqual(story.subject, { kind: 'cronTrigger', id: other.id, name: other.name })
  assert.deepEqual(
    story.records.map(({ id }: { id: string }) => id),
    records.map(({ id }: { id: string }) => id).toReversed(),
  )
  assert.equal(story.records.length, 3)
  assert.deepEqual((await asked(world, `GET search/correlate/${first.id}`)).records, [])
})

test('the ids of a source and of a WebSocket trigger are found, with their names', async () => {
  const idle = { dataset: 'ticks', enabled: false }
  const { source } = await asked(world, 'POST sources', { name: 'Shop', ...idle, settings: DATABASE })
  const { ws_trigger } = await asked(world, 'POST ws-triggers', { name: 'Feed', ...idle, url: 'ws://127.0.0.1:9/feed' })
  for (const [kind, { id, name }] of [
    ['source', source],
    ['wsTrigger', ws_trigger],
  ] as const) {
    // oxlint-disable-next-line no-await-in-loop -- one id after the other
    const { subject, records } = await asked(world, `GET search/correlate/${id}`)
    assert.deepEqual([subject, records], [{ kind, id, name }, []])
  }
})
