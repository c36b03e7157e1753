import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodeId, encodeId } from '@postroad/contract'
import { sql, type Database } from '../../src/platform/db.ts'
import { runUpkeep } from '../../src/workers/upkeep.ts'
import { aDestination, aName, anIngestKey, aRule, post, submissionOf } from '../stage/fixtures.ts'
import type { Answer, Sink, World } from '../stage/harness.ts'
import { onWorldStage } from '../stage/world-stage.ts'

/** The settings by which decisions were made: stored once for each change, and deleted after the last event that needs them. */
let world: World
let database: Database
let sink: Sink
onWorldStage(
  (made) => {
    ;({ world, database, sink } = made)
  },
  { loops: [] },
)

const DAY_MS = 86_400_000

type Place = World & { readonly id: string; readonly key: string }

async function aProject(): Promise<Place> {
  const { body } = await world.admin('POST', 'projects', { name: aName('project') })
  const place: World = {
    ...world,
    admin: (method, path, ...rest) => world.admin(method, `projects/${body.project.id}/${path}`, ...rest),
  }
  const { key } = await anIngestKey(place)
  return { ...place, id: decodeId('project', body.project.id) ?? '', key }
}

const storedIn = async ({ id }: Place): Promise<readonly string[]> =>
  (await database.many<{ id: string }>(sql`select id from routing_plans where project_id = ${id} order by id`)).map(
    (row) => row.id,
  )

async function sent(place: Place, path: string, payload: object): Promise<string> {
  const { body, status } = await post(`${world.baseUrl}/v1/ingest/${place.key}${path}`, JSON.stringify(payload))
  assert.equal(status, 201, JSON.stringify(body))
  return body.id
}

const destinationsOf = async (place: Place, id: string): Promise<readonly Answer['body'][]> =>
  (await submissionOf(place, id)).decision.destinations

test('a change of one destination of many stores the plan and one part, and earlier events keep their reasons', async () => {
  const place = await aProject()
  const made = await Promise.all(
    Array.from({ length: 70 }, (_, at) =>
      aDestination(place, { name: `d${at}`, url: sink.url, datasets: at === 0 ? null : ['elsewhere'] }),
    ),
  )
  const before = await sent(place, '/orders', { total: 1 })
  const stored = await storedIn(place)
  assert.ok(stored.length > 8, 'seventy destinations are in several parts')
  const id = made[5]?.destination.id ?? ''
  await place.admin('PATCH', `destinations/${id}`, {
    name: 'renamed',
    datasets: null,
    conditions: [{ path: 'total', op: 'gt', value: 5 }],
  })
  const after = await sent(place, '/orders', { total: 1 })
  const added = (await storedIn(place)).filter((one) => !stored.includes(one))
  assert.equal(added.length, 2)
  const reasonIn = async (event: string) => {
    const { destination, reason, failed } = (await destinationsOf(place, event)).find(
      (one) => one.destination_id === id,
    )
    return { destination, reason, failed }
  }
  assert.deepEqual(await reasonIn(before), { destination: 'd5', reason: 'dataset_not_subscribed', failed: null })
  assert.deepEqual(await reasonIn(after), {
    destination: 'renamed',
    reason: 'condition_failed',
    failed: { index: 0, path: 'total', op: 'gt', expected: 5, saw: 1 },
  })
  assert.equal((await destinationsOf(place, after)).length, 70)

  await place.admin('DELETE', `destinations/${id}`)
  assert.equal((await reasonIn(after)).destination, 'renamed', 'a deleted destination stays in the decision')
})

test('a setting that decides nothing stores nothing, and neither does the way back to a known one', async () => {
  const place = await aProject()
  const { destination } = await aDestination(place, { url: sink.url })
  await sent(place, '/orders', {})
  const stored = await storedIn(place)
  await place.admin('PATCH', `destinations/${destination.id}`, { url: `${sink.url}/other` })
  await sent(place, '/orders', {})
  assert.deepEqual(await storedIn(place), stored)
  await place.admin('PATCH', `destinations/${destination.id}`, { datasets: ['elsewhere'] })
  await sent(place, '/orders', {})
  const more = await storedIn(place)
  await place.admin('PATCH', `destinations/${destination.id}`, { datasets: null })
  await sent(place, '/orders', {})
  assert.deepEqual(await storedIn(place), more)
})

const sizeOf = async (event: string): Promise<number> =>
  (
    await database.one<{ size: number }>(
      sql`select length(decision::text) as size from submissions where id = ${decodeId('submission', event) ?? ''}`,
    )
  ).size

test('an event stores what it matches: its decision does not grow with the destinations and rules of other data', async () => {
  const place = await aProject()
  await aDestination(place, { url: sink.url })
  await aRule(place, { dataset: 'orders', conditions: [{ path: 'kind', equals: 'order' }] })
  const alone = await sizeOf(await sent(place, '', { kind: 'order' }))
  await Promise.all(
    Array.from({ length: 12 }, async (_, at) => {
      await aDestination(place, { url: sink.url, datasets: [`other${at}`] })
      await aRule(place, { dataset: `other${at}`, conditions: [{ path: 'kind', equals: `other${at}` }] })
    }),
  )
  const event = await sent(place, '', { kind: 'order' })
  assert.equal(await sizeOf(event), alone)
  const { decision } = await submissionOf(place, event)
  assert.equal(decision.rules.length, 13)
  assert.equal(decision.rules.filter((one: Answer['body']) => one.failed?.saw === 'order').length, 12)
})

test('a decision that was stored whole is shown as it was stored', async () => {
  const place = await aProject()
  const event = await sent(place, '/orders', { total: 1 })
  const record_id = (await submissionOf(place, event)).record_ids[0]
  const failed = { index: 0, path: 'total', op: 'gt', expected: 5, saw: 1 }
  const named = { destination_id: encodeId('destination', world.app.deps.uuid()), destination: 'gone', record_id }
  const whole = { destinations: [{ ...named, matched: false, reason: 'condition_failed', failed }] }
  await database.run(sql`
    update submissions set decision = ${JSON.stringify(whole)}::json where id = ${decodeId('submission', event) ?? ''}
  `)
  assert.deepEqual((await submissionOf(place, event)).decision, whole)
})

test('a plan is deleted with the last event that needs it, and stored again for the next one', async () => {
  // Upkeep makes the tables of the days, which it can drop.
  world.clock.advance(10 * DAY_MS)
  await runUpkeep(world.app.deps)
  const place = await aProject()
  await aDestination(place, { name: 'first', url: sink.url, datasets: ['elsewhere'] })
  await sent(place, '/orders', {})
  const first = await storedIn(place)
  world.clock.advance(DAY_MS)
  await aDestination(place, { name: 'second', url: sink.url })
  const event = await sent(place, '/orders', {})
  await database.run(sql`update workspaces set plan = 'business'`)

  // The event of the first day is gone, and that of the second is not.
  world.clock.advance(90 * DAY_MS)
  await runUpkeep(world.app.deps)
  const left = await storedIn(place)
  assert.deepEqual(
    first.filter((id) => left.includes(id)),
    [],
  )
  assert.equal((await destinationsOf(place, event)).length, 2)

  world.clock.advance(2 * DAY_MS)
  await runUpkeep(world.app.deps)
  assert.deepEqual(await storedIn(place), [])
  const again = await sent(place, '/orders', {})
  assert.equal((await destinationsOf(place, again)).length, 2)
})
