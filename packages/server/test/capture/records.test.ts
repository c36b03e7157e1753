import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { before, describe, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { decodeId } from '@postroad/contract'
import * as fc from 'fast-check'
import { anIngestKey, aWebhook, behind, post, statement } from '../stage/fixtures.ts'
import type { Answer, World } from '../stage/harness.ts'
import { onWorldStage } from '../stage/world-stage.ts'

/** The records listing of an endpoint (contract part 4, "Records rules"). */
let world: World

onWorldStage(
  (made) => {
    ;({ world } = made)
  },
  { loops: [] },
)

type Column = { readonly key: string; readonly label: string }
const keysOf = (columns: readonly Column[]): string[] => columns.map(({ key }) => key)

const recordsOf = (webhook: { id: string }, query = ''): Promise<Answer> =>
  world.admin('GET', `webhooks/${webhook.id}/records${query}`)

/** An endpoint that has received these payloads, the last one newest. */
async function received(payloads: readonly unknown[], members: object = {}): Promise<Answer['body']> {
  const webhook = await aWebhook(world, { ...members })
  for (const payload of payloads) assert.equal((await post(webhook.public_url, JSON.stringify(payload))).status, 201)
  return webhook
}

describe('GET webhooks/{id}/records without a view', () => {
  test('the listing has {webhook_id, view, columns, available_columns, rows, count}, newest first, and each row has the meta columns and the whole flattened payload', async () => {
    const webhook = await received([{ a: { b: [1, 'x'] } }, { c: null, 'd.e': true }])
    const { status, body } = await recordsOf(webhook)
    assert.equal(status, 200)
    assert.deepEqual(Object.keys(body), [
      'webhook_id',
      'view',
      'columns',
      'available_columns',
      'rows',
      'count',
      'sorted_since',
      'columns_complete',
      'left_out',
    ])
    assert.deepEqual([body.sorted_since, body.columns_complete, body.left_out], [null, true, []])
    assert.deepEqual([body.webhook_id, body.view, body.count], [webhook.id, null, 2])
    const meta = { _received_at: '2026-01-15T12:00:00.000Z', _source: 'endpoint_url' }
    assert.deepEqual(
      body.rows.map(({ _id, ...row }: { _id: string }) => row),
      [
        { ...meta, c: null, 'd\\.e': true },
        { ...meta, 'a.b.0': 1, 'a.b.1': 'x' },
      ],
    )
    assert.match(body.rows[0]['_id'], /^rec_/)
    assert.deepEqual(
      body.columns,
      ['c', 'd\\.e', 'a.b.0', 'a.b.1'].map((key) => ({ key, label: key })),
    )
    assert.deepEqual(body.available_columns, body.columns)
  })

  test('_id is the id of the record, and numbers retain their digits', async () => {
    const webhook = await aWebhook(world)
    const accepted = await post(webhook.public_url, '{"n":12345678901234567890,"__proto__":1.50}')
    const response = await fetch(`${world.baseUrl}/admin/api/webhooks/${webhook.id}/records`, {
      headers: { authorization: `Bearer ${world.installed.api_key}` },
    })
    const text = await response.text()
    assert.match(text, /"n":12345678901234567890,"__proto__":1\.50\}/)
    assert.ok(text.includes(`"_id":"${accepted.body.records[0].id}"`))
  })

  test('the listing shows the mapped events that came by the URL and by /v1/webhooks/{key}/{slug}, and no events of other endpoints', async () => {
    const { key } = await anIngestKey(world)
    const webhook = await received([{ a: 1, b: 2 }], { mappings: [{ target: 'mapped', path: 'a' }] })
    await received([{ other: 1 }])
    await post(`${world.baseUrl}/v1/webhooks/${key}/${webhook.slug}`, '{"a":3}')
    const { body } = await recordsOf(webhook)
    assert.deepEqual(
      body.rows.map((row: Record<string, unknown>) => [row['_source'], row['mapped']]),
      [
        ['ingest_key', 3],
        ['endpoint_url', 1],
      ],
    )
    assert.deepEqual(keysOf(body.columns), ['mapped'])
  })

  test('an event that met no criteria has no record', async () => {
    const webhook = await received([{ ok: 1 }, { ok: 0 }, { ok: 1 }], { criteria: [{ path: 'ok', equals: 1 }] })
    assert.equal((await recordsOf(webhook)).body.count, 2)
  })

  test('a form becomes a row of its fields', async () => {
    const webhook = await aWebhook(world)
    await post(webhook.public_url, 'a=1&b=x&b=y', { type: 'application/x-www-form-urlencoded' })
    const { body } = await recordsOf(webhook)
    assert.deepEqual(keysOf(body.columns), ['a', 'b.0', 'b.1'])
  })

  test('a compressed body becomes a row too, and the decompressed size counts for the bounds of the listing', async () => {
    const webhook = await aWebhook(world)
    const zipped = (value: unknown) =>
      post(webhook.public_url, new Uint8Array(gzipSync(JSON.stringify(value))), {
        headers: { 'content-encoding': 'gzip' },
      })
    await zipped({ a: 1 })
    assert.deepEqual((await recordsOf(webhook)).body.rows[0].a, 1)
    const b = `${randomBytes(10_000).toString('hex')}${'x'.repeat(980_000)}`
    for (let sent = 0; sent < 20; sent += 1) assert.equal((await zipped({ b })).status, 201)
    const { body } = await recordsOf(webhook)
    assert.deepEqual([body.count, body.left_out.length, keysOf(body.columns)], [4, 17, ['b', 'a']])
  })

  test('an endpoint that received nothing has no rows and no columns', async () => {
    const { body } = await recordsOf(await aWebhook(world))
    assert.deepEqual([body.columns, body.available_columns, body.rows, body.count], [[], [], [], 0])
  })

  test('the columns cover all records, however few rows the caller asks for', async () => {
    const webhook = await received([{ old: 1 }, { young: 1 }])
    const { body } = await recordsOf(webhook, '?limit=1')
    assert.deepEqual(keysOf(body.columns), ['young', 'old'])
    assert.equal(body.count, 1)
  })
})

describe('limit', () => {
  let webhook: Answer['body']
  before(async () => {
    webhook = await aWebhook(world)
    const { body } = await post(webhook.public_url, '{"n":0}')
    const database = behind(world)
    // Two submissions more than the listing can show, each with its record.
    await statement(
      database,
      `with made as (
         select gen_random_uuid() as sub, gen_random_uuid() as rec, s.workspace_id, s.project_id, s.webhook_id, s.received_at
           from submissions s, generate_series(1, 1001)
          where s.record_ids <> '{}' and s.webhook_id = '${decodeId('webhook', webhook.id)}'
       ), stored as (
         insert into submissions (workspace_id, project_id, id, webhook_id, received_at, headers, body, body_size, decision, record_ids)
         select workspace_id, project_id, sub, webhook_id, received_at, '{}', '{"n":1}', 7, '{"destinations":[]}', array[rec] from made
       )
       insert into records (workspace_id, project_id, id, submission_id, dataset, received_at, hops)
       select workspace_id, project_id, rec, sub, 'd', received_at, 0 from made`,
    )
    await database.close()
    assert.equal(body.records.length, 1)
  })

  const countAt = async (query: string): Promise<number> => {
    const { status, body } = await recordsOf(webhook, query)
    assert.equal(status, 200, query)
    assert.equal(body.rows.length, body.count)
    return body.count
  }

  test('limit is 200 when it is omitted', async () => assert.equal(await countAt(''), 200))

  test('a limit of 1 to 1,000 is used unchanged', async () => {
    for (const limit of [1, 199, 200, 201, 1_000]) assert.equal(await countAt(`?limit=${limit}`), limit)
  })

  test('a limit above 1,000 is clamped to 1,000', async () => {
    for (const limit of ['1001', '5000', '99999999999999999999']) assert.equal(await countAt(`?limit=${limit}`), 1_000)
  })

  test('a limit that is not numeric or not positive falls back to 200', async () => {
    for (const limit of [
      '',
      'abc',
      '10x',
      '0',
      '-1',
      '-1000',
      'NaN',
      'null',
      '5&limit=6',
      '0x10',
      '0b11',
      '0o7',
      '1e1',
      '1E3',
      '.5e1',
      'Infinity',
      '1_0',
      '0.5',
    ])
      assert.equal(await countAt(`?limit=${limit}`), 200, limit)
  })

  test('no text in limit ever gives 400', async () => {
    await fc.assert(
      fc.asyncProperty(fc.oneof(fc.string(), fc.integer().map(String), fc.double().map(String)), async (text) => {
        const count = await countAt(`?limit=${encodeURIComponent(text)}`)
        const number = /^[+-]?\d+(\.\d+)?$/.test(text.trim()) ? Math.floor(Number(text)) : 0
        assert.equal(count, number >= 1 ? Math.min(number, 1_000) : 200)
      }),
      { numRuns: 25 },
    )
  })
})

describe('the route', () => {
  test('only GET has a route', async () => {
    const webhook = await aWebhook(world)
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
      const { status, body } = await world.admin(method, `webhooks/${webhook.id}/records`, {})
      assert.deepEqual([status, body.reason], [405, 'method_not_allowed'], method)
    }
  })

  test('an unknown endpoint and an endpoint of another project get 404', async () => {
    const { body } = await world.admin('POST', 'projects', { name: 'elsewhere' })
    const webhook = await received([{ a: 1 }])
    assert.equal((await world.admin('GET', `projects/${body.project.id}/webhooks/${webhook.id}/records`)).status, 404)
    assert.equal((await recordsOf({ id: 'whk_01hzzzzzzzzzzzzzzzzzzzzzzz' })).status, 404)
    assert.equal((await world.admin('GET', `projects/${body.project.id}/webhooks/x/records`)).status, 404)
  })

  test('a key with the role viewer may read, and a request without a key may not', async () => {
    const webhook = await aWebhook(world)
    assert.equal((await fetch(`${world.baseUrl}/admin/api/webhooks/${webhook.id}/records`)).status, 401)
    const database = behind(world)
    await statement(database, `update api_keys set role = 'viewer'`)
    try {
      assert.equal((await recordsOf(webhook)).status, 200)
      assert.equal(
        (await world.admin('POST', `webhooks/${webhook.id}/views`, { name: 'v', columns: [{ key: 'a' }] })).status,
        403,
      )
    } finally {
      await statement(database, `update api_keys set role = 'admin'`)
      await database.close()
    }
  })
})
