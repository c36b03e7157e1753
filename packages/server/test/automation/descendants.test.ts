import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from '../../src/platform/db.ts'
import { runUpkeep } from '../../src/workers/upkeep.ts'
import { eventually, type World } from '../stage/harness.ts'
import { instancesOf, storeEvent, storeWorkflow } from '../stage/workflow-stage.ts'
import { onWorldStage } from '../stage/world-stage.ts'

/** Workflows that start each other multiply events at each hop, so the plan bounds the events that one event leads to. */
let world: World
onWorldStage(
  (made) => {
    world = made.world
  },
  { loops: ['workflows.run'] },
)

const BUDGET = 20
const emit = (id: string) => ({ id, type: 'emit_event', dataset: 'spread', retry: { max_attempts: 3 } })
const steps = ['one', 'two', 'three'].map(emit)

const records = async (): Promise<number> =>
  (
    await world.app.deps.database.one<{ found: number }>(
      sql`select count(*)::int as found from records where dataset = 'spread'`,
    )
  ).found

/** Lets time pass until every instance has ended. Returns the errors of those that failed. */
function ended(workflows: readonly string[]): Promise<readonly { reason: string; message: string }[]> {
  return eventually('every instance has ended', async () => {
    world.clock.advance(100)
    const all = (await Promise.all(workflows.map((id) => instancesOf(world, id)))).flat()
    if (!all.every(({ state }) => state === 'completed' || state === 'failed')) return undefined
    return all.flatMap(({ error }) => (error === null ? [] : [error]))
  })
}

test('one event leads to as many events as the plan allows, whatever the number of workflows, steps and hops', async () => {
  const { plans, database } = world.app.deps
  Object.assign(plans.self_hosted, { descendants_per_event: BUDGET })
  const workflows = [
    await storeWorkflow(world, { dataset: 'spread', steps }),
    await storeWorkflow(world, { dataset: 'spread', steps }),
  ]
  await storeEvent(world, { dataset: 'spread', data: { n: 1 } })
  const errors = await ended(workflows)
  assert.equal(await records(), 1 + BUDGET)
  assert.ok(errors.length > 0)
  for (const { reason, message } of errors) {
    assert.equal(reason, 'loop_detected')
    assert.match(message, /has already led to 20 events through workflows and agents, the most that the plan allows/)
  }
  await storeEvent(world, { dataset: 'spread', data: { n: 2 } })
  await ended(workflows)
  assert.equal(await records(), 2 * (1 + BUDGET), 'another event has a count of its own')
  const counts = await database.many<{ events: number }>(sql`select events from event_descendants`)
  assert.equal(counts.length, 2)
  world.clock.advance(31 * 86_400_000)
  await runUpkeep(world.app.deps)
  assert.equal((await database.many(sql`select events from event_descendants`)).length, 0)
})

test('without a limit in the plan, nothing is counted', async () => {
  const { plans, database } = world.app.deps
  const quiet = steps.map((step) => ({ ...step, dataset: 'quiet' }))
  const workflow = await storeWorkflow(world, { dataset: 'alone', steps: quiet })
  Object.assign(plans.self_hosted, { descendants_per_event: 2 })
  await storeEvent(world, { dataset: 'alone', data: {} })
  assert.equal((await ended([workflow])).length, 1)
  Object.assign(plans.self_hosted, { descendants_per_event: null })
  await storeEvent(world, { dataset: 'alone', data: {} })
  assert.equal((await ended([workflow])).length, 1)
  const { found } = await database.one<{ found: number }>(sql`select count(*)::int as found from event_descendants`)
  assert.equal(found, 1)
})
