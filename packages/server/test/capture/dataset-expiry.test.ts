import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodeId } from '@postroad/contract'
import { createExpirer } from '../../src/resources/capture/datasets/expire/index.ts'
import { INVARIANTS } from '../../src/resources/operate/installation/invariants.ts'
import { sql } from '../../src/platform/db.ts'
import { aDestination, aName, anIngestKey, aRule, aWebhook, post } from '../stage/fixtures.ts'
import type { Sink, World } from '../stage/harness.ts'
import { onWorldStage } from '../stage/world-stage.ts'

const DAY_MS = 86_400_000
let world: World
let sink: Sink
onWorldStage(
  (made) => {
    ;({ world, sink } = made)
  },
  { loops: [] },
)

async function aDataset(members: object = {}): Promise<{ id: string; name: string; url: string }> {
  const name = aName('set').replaceAll(/[^A-Za-z0-9_]/g, '_')
  const { id } = (await world.admin('POST', 'datasets', { name, ...members })).body.dataset
  return { id, name, url: (await aWebhook(world, { dataset: name })).public_url }
}

async function countIn(
  table: 'records' | 'submissions' | 'deliveries' | 'delivery_attempts',
  id: string,
): Promise<number> {
  const { database } = world.app.deps
  const column = { records: 'id', submissions: 'id', deliveries: 'record_id', delivery_attempts: 'delivery_id' }[table]
  const rows = await database.many<{ id: string }>({
    strings: [`select id from ${table} where ${column} = `, '::uuid'],
    values: [decodeId(id.startsWith('rec') ? 'record' : id.startsWith('sub') ? 'submission' : 'delivery', id) ?? ''],
  })
  return rows.length
}

async function assertInvariants(): Promise<void> {
  for (const { check, count } of INVARIANTS) {
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    assert.equal(await count(world.app.deps.database, new Date(world.clock.now()), world.app.deps.plans), 0, check)
  }
}

const namesOf = async (): Promise<readonly string[]> =>
  (await world.admin('GET', 'datasets')).body.datasets.map(({ name }: { name: string }) => name)

test('a deleted dataset disappears immediately, and its records, requests and ended deliveries follow', async () => {
  const { id, name, url } = await aDataset()
  await aDestination(world, { url: sink.url, datasets: [name] })
  const accepted = (await post(url, '{"n":1}')).body
  const record = accepted.records[0].id
  await world.idle()
  const { deliveries } = (await world.admin('GET', `search/correlate/${record}`)).body
  assert.equal(deliveries[0]?.state, 'delivered')
  assert.equal((await world.admin('DELETE', `datasets/${id}`)).status, 200)
  assert.ok(!(await namesOf()).includes(name))
  assert.equal((await world.admin('GET', `datasets/${id}`)).status, 404)
  await createExpirer(world.app.deps)()
  for (const [table, of] of [
    ['records', record],
    ['submissions', accepted.id],
    ['deliveries', record],
    ['delivery_attempts', deliveries[0].id],
  ] as const)
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    assert.equal(await countIn(table, of), 0, table)
  await assertInvariants()
  const { audit } = (await world.admin('GET', `audit?target=${id}`)).body
  assert.deepEqual(
    audit.map(({ action }: { action: string }) => action),
    ['delete_dataset', 'create_dataset'],
  )
})

test('a record stays until its delivery has ended, because 201 promised the delivery', async () => {
  const { id, name, url } = await aDataset()
  const { destination } = await aDestination(world, { url: sink.url, datasets: [name], enabled: false })
  const record = (await post(url, '{"n":1}')).body.records[0].id
  await world.admin('DELETE', `datasets/${id}`)
  await createExpirer(world.app.deps)()
  assert.equal(await countIn('records', record), 1)
  await world.admin('PATCH', `destinations/${destination.id}`, { enabled: true })
  world.clock.advance(1_000)
  await world.idle()
  assert.ok(sink.received.some(({ body }) => body.includes(record)))
  await createExpirer(world.app.deps)()
  assert.equal(await countIn('records', record), 0)
  await assertInvariants()
})

test('a request with a record in another dataset stays with it', async () => {
  const { id, name } = await aDataset()
  const other = aName('set').replaceAll(/[^A-Za-z0-9_]/g, '_')
  await aRule(world, { dataset: name, conditions: [{ path: 'both', equals: true }] })
  await aRule(world, { dataset: other, conditions: [{ path: 'both', equals: true }] })
  const { key } = await anIngestKey(world)
  const accepted = (await post(`${world.baseUrl}/v1/ingest/${key}`, '{"both":true}')).body
  const recordIn = (dataset: string): string =>
    accepted.records.find((record: { dataset: string }) => record.dataset === dataset).id
  await world.admin('DELETE', `datasets/${id}`)
  await createExpirer(world.app.deps)()
  assert.equal(await countIn('records', recordIn(name)), 0)
  assert.equal(await countIn('records', recordIn(other)), 1)
  assert.equal(await countIn('submissions', accepted.id), 1)
  await assertInvariants()
})

test('the next event creates the dataset again, and its records stay', async () => {
  const { id, name, url } = await aDataset()
  const earlier = (await post(url, '{"n":1}')).body.records[0].id
  await world.admin('DELETE', `datasets/${id}`)
  world.clock.advance(1)
  const later = (await post(url, '{"n":2}')).body.records[0].id
  assert.ok((await namesOf()).includes(name))
  await createExpirer(world.app.deps)()
  assert.deepEqual([await countIn('records', earlier), await countIn('records', later)], [0, 1])
})

test('a process that has not learned of the deletion leaves no record without a dataset', async () => {
  const { id, name, url } = await aDataset()
  await post(url, '{"n":1}')
  await world.admin('DELETE', `datasets/${id}`)
  world.clock.advance(1)
  await post(url, '{"n":2}')
  await world.app.deps.database.run(sql`delete from datasets where name = ${name}`)
  world.clock.advance(60_000)
  await createExpirer(world.app.deps)()
  assert.ok((await namesOf()).includes(name))
})

test('a dataset with a retention erases older records, day by day', async () => {
  const { id, url } = await aDataset({ retention_days: 2 })
  const old = (await post(url, '{"n":1}')).body.records[0].id
  world.clock.advance(2 * DAY_MS)
  const young = (await post(url, '{"n":2}')).body.records[0].id
  await createExpirer(world.app.deps)()
  assert.deepEqual([await countIn('records', old), await countIn('records', young)], [1, 1])
  world.clock.advance(DAY_MS)
  await createExpirer(world.app.deps)()
  assert.deepEqual([await countIn('records', old), await countIn('records', young)], [0, 1])
  await world.admin('PATCH', `datasets/${id}`, { retention_days: null })
  world.clock.advance(5 * DAY_MS)
  await createExpirer(world.app.deps)()
  assert.equal(await countIn('records', young), 1)
  for (const retention_days of [0, 1.5, 4_000, 'ten']) {
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    const { status, body } = await world.admin('PATCH', `datasets/${id}`, { retention_days })
    assert.equal(status, 400)
    assert.match(body.error, /^retention_days:? /)
  }
})

test('datasets whose records have to stay do not delay the erasure of another one', async () => {
  await aDestination(world, { url: sink.url, enabled: false, conditions: [{ path: 'stays', equals: true }] })
  const { key } = await anIngestKey(world)
  const names = Array.from({ length: 101 }, () => aName('set').replaceAll(/[^A-Za-z0-9_]/g, '_'))
  let record = ''
  for (const [index, name] of names.entries()) {
    world.clock.advance(1)
    const body = JSON.stringify({ stays: index < 100 })
    // oxlint-disable-next-line no-await-in-loop -- in this order
    record = (await post(`${world.baseUrl}/v1/ingest/${key}/${name}`, body)).body.records[0].id
  }
  const { datasets } = (await world.admin('GET', 'datasets?limit=200')).body
  const ids = datasets.flatMap(({ id, name }: { id: string; name: string }) => (names.includes(name) ? [id] : []))
  assert.equal(ids.length, names.length)
  for (const [index, id] of ids.entries()) {
    if (index % 50 === 0) world.clock.advance(10_000)
    // oxlint-disable-next-line no-await-in-loop -- in this order
    assert.equal((await world.admin('DELETE', `datasets/${id}`)).status, 200)
  }
  const expire = createExpirer(world.app.deps)
  await expire()
  await expire()
  assert.equal(await countIn('records', record), 0)
})
