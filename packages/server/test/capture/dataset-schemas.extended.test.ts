import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LIMITS } from '@postroad/contract'
import { sql } from '../../src/platform/db.ts'
import { aName, aWebhook, post } from '../stage/fixtures.ts'
import type { Answer, World } from '../stage/harness.ts'
import { onWorldStage } from '../stage/world-stage.ts'

let world: World
onWorldStage(
  (made) => {
    ;({ world } = made)
  },
  { loops: [] },
)

async function aDataset(): Promise<{ id: string; name: string; url: string }> {
  const name = aName('set').replaceAll(/[^A-Za-z0-9_]/g, '_')
  const { id } = (await world.admin('POST', 'datasets', { name })).body.dataset
  return { id, name, url: (await aWebhook(world, { dataset: name })).public_url }
}

async function send(url: string, payloads: readonly string[]): Promise<void> {
  for (const payload of payloads) {
    world.clock.advance(1)
    // oxlint-disable-next-line no-await-in-loop -- in this order
    assert.equal((await post(url, payload)).status, 201)
  }
}

const schemaOf = async (id: string): Promise<Answer['body']> =>
  (await world.admin('GET', `datasets/${id}/schema`)).body.schema

/** Runs the loop when it may read the newest records. It must have stored a schema with this many records. */
async function learned(id: string, count: number): Promise<Answer['body']> {
  world.clock.advance(60_000)
  await world.run('dataset_schemas.learn')
  const stored = await world.app.deps.database.many(
    sql`select 1 as one from dataset_schemas where content like ${`{"read":${count},%`}`,
  )
  assert.equal(stored.length, 1)
  const schema = await schemaOf(id)
  assert.equal(schema.records_read, count)
  return schema
}

const same = (count: number, text: string): readonly string[] => Array.from({ length: count }, () => text)

test('the schema of a dataset has its fields immediately, with types, presence and the times at which they were seen', async () => {
  const { id, name, url } = await aDataset()
  assert.deepEqual((await schemaOf(id)).fields, [])
  await send(url, ['{"id":1,"total":9.5}', '{"id":2,"lines":[{"sku":"a"}]}'])
  const schema = await schemaOf(id)
  assert.deepEqual([schema.dataset, schema.records_read, schema.complete, schema.drifts], [name, 2, true, []])
  assert.deepEqual(
    schema.fields.map(({ path, types, presence }: Answer['body']) => [path, types[0].type, presence]),
    [
      ['id', 'integer', 1],
      ['total', 'number', 0.5],
      ['lines', 'array', 0.5],
      ['lines[]', 'object', 0.5],
      ['lines[].sku', 'string', 0.5],
    ],
  )
  const [first] = schema.fields
  assert.ok(first.first_seen_at < first.last_seen_at)
})

test('the loop reads each record once, and reports how the records changed', async () => {
  const { id, url } = await aDataset()
  await send(url, same(20, '{"id":1,"total":2}'))
  await learned(id, 20)
  await send(url, ['{"id":"x","total":2,"note":"new"}', ...same(50, '{"id":1,"note":"new"}')])
  const schema = await learned(id, 71)
  assert.deepEqual(
    schema.drifts.map(({ kind, path, type }: Answer['body']) => [kind, path, type]),
    [
      ['field_gone', 'total', null],
      ['field_added', 'note', 'string'],
      ['type_added', 'id', 'string'],
    ],
  )
  assert.match(schema.drifts[0].record_id, /^rec_/)
  assert.notEqual(schema.fields.find(({ path }: Answer['body']) => path === 'total').gone_at, null)
  const { records } = (await world.admin('GET', `search/correlate/${schema.drifts[1].record_id}`)).body
  assert.equal(records.length, 1)
})

test('the schema skips a record above 256 KiB', async () => {
  const { id, url } = await aDataset()
  await send(url, [JSON.stringify({ large: 'x'.repeat(LIMITS.datasetReadBytesMax) }), '{"id":1}'])
  const schema = await schemaOf(id)
  assert.deepEqual([schema.records_read, schema.fields.length], [1, 1])
})

test('the schema of a dataset is deleted with the dataset', async () => {
  const { id, url } = await aDataset()
  await send(url, same(3, '{"id":1}'))
  await learned(id, 3)
  await world.admin('DELETE', `datasets/${id}`)
  assert.equal((await world.admin('GET', `datasets/${id}/schema`)).status, 404)
  const left = await world.app.deps.database.many(
    sql`select 1 as one from dataset_schemas where content like '{"read":3,%'`,
  )
  assert.equal(left.length, 0)
})
