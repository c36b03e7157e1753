import assert from 'node:assert/strict'
import { test } from 'node:test'
import { aDestination } from '../stage/fixtures.ts'
import type { Answer, Sink, World } from '../stage/harness.ts'
import { instancesOf, storeEvent, storeWorkflow } from '../stage/workflow-stage.ts'
import { onWorldStage } from '../stage/world-stage.ts'

/** A workflow can deliver an event hours after it came. */
let world: World
let sink: Sink

onWorldStage(
  (made) => {
    ;({ world, sink } = made)
  },
  { loops: ['workflows.run'] },
)

async function found(query: Record<string, string>): Promise<number> {
  let [count, cursor]: [number, string | null] = [0, null]
  do {
    const asked = new URLSearchParams({ ...query, ...(cursor === null ? {} : { cursor }) }).toString()
    // oxlint-disable-next-line no-await-in-loop -- each page follows the previous one
    const { status, body }: Answer = await world.admin('GET', `search/deliveries?${asked}`)
    assert.equal(status, 200, JSON.stringify(body))
    count += body.deliveries.length
    cursor = body.next_cursor
  } while (cursor !== null)
  return count
}

test('a search in a time range finds the deliveries of that time, also of events that came earlier', async () => {
  const { destination } = await aDestination(world, { url: sink.url, datasets: ['nowhere'] })
  const workflowId = await storeWorkflow(world, {
    dataset: 'orders',
    steps: [
      { id: 'cool_off', type: 'delay', seconds: 7_200 },
      { id: 'notify', type: 'deliver', destination: destination.id },
    ],
  })
  const assertAllIn = async (wanted: string): Promise<void> => {
    await world.idle()
    const instances = await instancesOf(world, workflowId)
    assert.deepEqual(
      instances.map(({ state }) => state),
      [wanted, wanted, wanted],
    )
  }
  for (const n of [1, 2, 3]) await storeEvent(world, { dataset: 'orders', data: { n, word: 'later' } })
  await assertAllIn('sleeping')
  const between = new Date(world.clock.now() + 3_600_000).toISOString()
  world.clock.advance(7_200_000)
  await assertAllIn('completed')
  for (const q of [{}, { q: 'later' }, { f: 'word:equals:later' }]) {
    const what = JSON.stringify(q)
    assert.equal(await found({ ...q, from: between }), 3, what)
    assert.equal(await found({ ...q, from: between, limit: '1' }), 3, what)
    assert.equal(await found({ ...q, to: between }), 0, what)
  }
  assert.equal(await found({ f: 'n:equals:2', from: between }), 1)
})
