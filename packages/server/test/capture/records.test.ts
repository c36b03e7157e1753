import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { decodeId } from '@postroad/contract'
import * as fc from 'fast-check'
import { sortRecords } from '../../src/resources/capture/records/sort/index.ts'
import { aDestination, anIngestKey, aWebhook, behind, post, statement } from '../stage/fixtures.ts'
import { aSink, aWorld, type Answer, type World } from '../stage/harness.ts'

/** The records listing of an endpoint (contract part 4, "Records rules"), and the lists of events by time. */
let world: World

before(async () => {
  world = await aWorld()
})
after(() => world.stop())

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

async function aView(webhook: { id: string }, members: object): Promise<Answer['body']> {
  const answer = await world.admin('POST', `webhooks/${webhook.id}/views`, { name: 'view', ...members })
  assert.equal(answer.status, 201, JSON.stringify(answer.body))
  return answer.body.view
}

describe('GET webhooks/{id}/records without a view', () => {
  test('gives {webhook_id, view, columns, available_columns, rows, count}, newest first, each row with the meta columns and the whole flattened payload', async () => {
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

  test('_id is the id of the record, and numbers keep their digits', async () => {
    const webhook = await aWebhook(world)
    const accepted = await post(webhook.public_url, '{"n":12345678901234567890,"__proto__":1.50}')
    const response = await fetch(`${world.baseUrl}/admin/api/webhooks/${webhook.id}/records`, {
      headers: { authorization: `Bearer ${world.installed.api_key}` },
    })
    const text = await response.text()
    assert.match(text, /"n":12345678901234567890,"__proto__":1\.50\}/)
    assert.ok(text.includes(`"_id":"${accepted.body.records[0].id}"`))
  })

  test('lists what came by its URL and by /v1/webhooks/{key}/{slug}, as it was mapped, and nothing of others', async () => {
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

  test('what met no criteria is no record', async () => {
    const webhook = await received([{ ok: 1 }, { ok: 0 }, { ok: 1 }], { criteria: [{ path: 'ok', equals: 1 }] })
    assert.equal((await recordsOf(webhook)).body.count, 2)
  })

  test('a form is a row of its fields', async () => {
    const webhook = await aWebhook(world)
    await post(webhook.public_url, 'a=1&b=x&b=y', { type: 'application/x-www-form-urlencoded' })
    const { body } = await recordsOf(webhook)
    assert.deepEqual(keysOf(body.columns), ['a', 'b.0', 'b.1'])
  })

  test('so is a compressed body, and the listing is bounded by what is in it', async () => {
    const webhook = await aWebhook(world)
    const zipped = (value: unknown) =>
      post(webhook.public_url, new Uint8Array(gzipSync(JSON.stringify(value))), {
        headers: { 'content-encoding': 'gzip' },
      })
    await zipped({ a: 1 })
    assert.deepEqual((await recordsOf(webhook)).body.rows[0].a, 1)
    for (let sent = 0; sent < 20; sent += 1) assert.equal((await zipped({ b: 'x'.repeat(1_000_000) })).status, 201)
    const { body } = await recordsOf(webhook)
    assert.deepEqual([body.count, body.left_out.length, keysOf(body.columns)], [17, 4, ['b', 'a']])
  })

  test('an endpoint that received nothing has no rows and no columns', async () => {
    const { body } = await recordsOf(await aWebhook(world))
    assert.deepEqual([body.columns, body.available_columns, body.rows, body.count], [[], [], [], 0])
  })

  test('the columns are those of all records, however few rows are asked for', async () => {
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
    // As many submissions as the listing can hold and two more, each with its record.
    await statement(
      database,
      `with made as (
         select gen_random_uuid() as sub, gen_random_uuid() as rec, s.workspace_id, s.project_id, s.webhook_id, s.received_at
           from submissions s, generate_series(1, 1001)
          where s.record_ids <> '{}' and s.webhook_id = (select webhook_id from submissions order by id desc limit 1)
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

  test('is 200 when it is left out', async () => assert.equal(await countAt(''), 200))

  test('1 to 1,000 is taken as it is', async () => {
    for (const limit of [1, 199, 200, 201, 1_000]) assert.equal(await countAt(`?limit=${limit}`), limit)
  })

  test('above 1,000 clamps to 1,000', async () => {
    for (const limit of ['1001', '5000', '99999999999999999999']) assert.equal(await countAt(`?limit=${limit}`), 1_000)
  })

  test('what is not numeric or not positive falls back to 200', async () => {
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

  test('is never a 400, whatever text it is', async () => {
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

describe('with a view', () => {
  test('each row has _id and exactly the columns of the view, what is missing is null, and available_columns is the full set', async () => {
    const webhook = await received([
      { a: 1, b: 2 },
      { a: 3, c: 4 },
    ])
    const view = await aView(webhook, {
      columns: [{ key: 'b', label: 'Bee' }, { key: 'a' }, { key: '_source', label: 'From' }],
    })
    const { body } = await recordsOf(webhook, `?view=${view.id}`)
    assert.deepEqual(body.view, view)
    assert.deepEqual(body.columns, [
      { key: 'b', label: 'Bee' },
      { key: 'a', label: 'a' },
      { key: '_source', label: 'From' },
    ])
    assert.deepEqual(keysOf(body.available_columns), ['a', 'c', 'b'])
    assert.deepEqual(
      body.rows.map(({ _id, ...row }: { _id: string }) => row),
      [
        { b: null, a: 3, _source: 'endpoint_url' },
        { b: 2, a: 1, _source: 'endpoint_url' },
      ],
    )
    assert.equal(body.count, 2)
  })

  test('rows are sorted by its sort key, numbers as numbers and what is missing last, before the limit is applied', async () => {
    const webhook = await received([{ n: 10 }, {}, { n: 9 }, { n: '100' }, { n: -1 }])
    const order = async (view: object, query = ''): Promise<unknown[]> => {
      const { id } = await aView(webhook, { columns: [{ key: 'n' }], sort_key: 'n', ...view })
      return (await recordsOf(webhook, `?view=${id}${query}`)).body.rows.map((row: { n: unknown }) => row.n)
    }
    assert.deepEqual(await order({ name: 'up', sort_dir: 'asc' }), [-1, 9, 10, '100', null])
    assert.deepEqual(await order({ name: 'down', sort_dir: 'desc' }), ['100', 10, 9, -1, null])
    assert.deepEqual(await order({ name: 'first' }, '&limit=2'), [-1, 9])
  })

  test('numbers come before text before true and false, equal ones stay newest first, and the time of receipt sorts as well', async () => {
    const webhook = await aWebhook(world)
    const payloads = [
      { at: 0, v: true },
      { at: 1, v: 'b' },
      { at: 2, v: 2 },
      { at: 3, v: null },
      { at: 4, v: 'b' },
      { at: 5, v: 1.5 },
      { at: 6 },
      { at: 7, v: false },
      { at: 8, v: 2 },
    ]
    for (const payload of payloads) {
      assert.equal((await post(webhook.public_url, JSON.stringify(payload))).status, 201)
      world.clock.advance(1_000)
    }
    const order = async (sort_key: string, sort_dir: string): Promise<unknown[]> => {
      const { id } = await aView(webhook, {
        name: `${sort_key} ${sort_dir}`,
        columns: [{ key: 'at' }],
        sort_key,
        sort_dir,
      })
      return (await recordsOf(webhook, `?view=${id}`)).body.rows.map((row: { at: unknown }) => row.at)
    }
    assert.deepEqual(await order('v', 'asc'), [5, 8, 2, 4, 1, 7, 0, 6, 3])
    assert.deepEqual(await order('v', 'desc'), [0, 7, 4, 1, 8, 2, 5, 6, 3])
    assert.deepEqual(await order('_received_at', 'asc'), [0, 1, 2, 3, 4, 5, 6, 7, 8])
    assert.deepEqual(await order('_received_at', 'desc'), [8, 7, 6, 5, 4, 3, 2, 1, 0])
  })

  test('a view of another endpoint, an unknown one and a text that is no id are 404 alike', async () => {
    const [one, other] = [await received([{ a: 1 }]), await aWebhook(world)]
    const view = await aView(other, { columns: [{ key: 'a' }] })
    for (const id of [view.id, 'vie_01hzzzzzzzzzzzzzzzzzzzzzzz', 'nonsense', '', other.id]) {
      const { status, body } = await recordsOf(one, `?view=${id}`)
      assert.deepEqual([status, body.reason], [404, 'not_found'], id)
    }
  })

  test('a default view is not applied by itself', async () => {
    const webhook = await received([{ a: 1 }])
    await aView(webhook, { columns: [{ key: 'b' }], is_default: true })
    assert.equal((await recordsOf(webhook)).body.view, null)
  })
})

describe('the whole flattened payload', () => {
  test('has every column, however many there are and however long their keys are', async () => {
    const long = 'k'.repeat(300)
    const webhook = await received([{ ...Object.fromEntries(numbers(800).map((at) => [`c${at}`, at])), [long]: 1 }])
    const { body } = await recordsOf(webhook)
    assert.deepEqual([Object.keys(body.rows[0]).length, body.columns.length], [804, 801])
    const view = await aView(webhook, { columns: [{ key: long }, { key: 'c799' }], sort_key: long })
    const { rows } = (await recordsOf(webhook, `?view=${view.id}`)).body
    assert.deepEqual([rows[0][long], rows[0].c799], [1, 799])
  })

  test('has the keys _id, _received_at and _source of the payload itself, and a view shows them and sorts by them', async () => {
    const webhook = await received([{ _id: 2, _received_at: 'then', _source: null }, { _id: 1 }])
    const { body } = await recordsOf(webhook)
    assert.deepEqual(keysOf(body.columns), ['\\_id', '\\_received_at', '\\_source'])
    assert.match(body.rows[1]['_id'], /^rec_/)
    assert.deepEqual(
      [body.rows[1]['\\_id'], body.rows[1]['\\_received_at'], body.rows[1]['\\_source']],
      [2, 'then', null],
    )
    const view = await aView(webhook, { columns: [{ key: '\\_id' }, { key: '_source' }], sort_key: '\\_id' })
    assert.deepEqual(
      (await recordsOf(webhook, `?view=${view.id}`)).body.rows.map((row: Answer['body']) => [
        row['\\_id'],
        row['_source'],
      ]),
      [
        [1, 'endpoint_url'],
        [2, 'endpoint_url'],
      ],
    )
  })

  test('a view shows and sorts by every discovered column: dots, backslashes, empty keys, lists and 128 levels', async () => {
    const deep = `${'{"a.":'.repeat(127)}3${'}'.repeat(127)}`
    const webhook = await aWebhook(world)
    for (const n of [2, 1])
      await post(webhook.public_url, `{"":${n},"a.b":{"":${n},"\\\\":[[{"x":${n}}]]},"deep":${deep}}`)
    const keys = keysOf((await recordsOf(webhook)).body.columns)
    assert.equal(keys.length, 4)
    for (const [at, key] of keys.entries()) {
      const view = await aView(webhook, { name: `v${at}`, columns: [{ key }], sort_key: key })
      const { rows } = (await recordsOf(webhook, `?view=${view.id}`)).body
      assert.deepEqual(
        rows.map((row: Answer['body']) => row[key]),
        key.startsWith('deep') ? [3, 3] : [1, 2],
        key,
      )
    }
  })

  test('records that do not fit into the answer are named, and the others are there whole', async () => {
    const webhook = await aWebhook(world)
    const first = await post(webhook.public_url, '{"small":1}')
    const long = await post(webhook.public_url, wide(5_000))
    await post(webhook.public_url, wide(2))
    const { body } = await recordsOf(webhook)
    assert.deepEqual(body.left_out, [long.body.records[0].id])
    assert.deepEqual([body.count, body.rows[1]['_id'], body.columns_complete], [2, first.body.records[0].id, false])
    assert.deepEqual(keysOf(body.columns), [`${'k'.repeat(5_000)}.0`, `${'k'.repeat(5_000)}.1`, 'small'])
    const view = await aView(webhook, { columns: [{ key: 'small' }] })
    assert.deepEqual((await recordsOf(webhook, `?view=${view.id}`)).body.left_out, [])
  })
})

const wide = (count: number): string => JSON.stringify({ ['k'.repeat(5_000)]: numbers(count) })
const numbers = (count: number): number[] => Array.from({ length: count }, (_, at) => at)

let batches = 0
/** Which of the stored ones the first id is. */
const numberOf = ([id = '']: readonly string[]): number => Number.parseInt(id.slice(-4), 16)

/** Files more records for the endpoint behind the server's back, the first one oldest: `body` is SQL of the number `n`. */
async function stored(webhook: { id: string }, { count, body, ms = 1 }: { count: number; body: string; ms?: number }) {
  const database = behind(world)
  const begin = world.clock.now() - 3_600_000
  batches += 1
  const batch = String(batches).padStart(4, '0')
  await statement(
    database,
    `with made as (
       select n, (lpad(to_hex((${begin} + n * ${ms})::bigint), 12, '0') || '700080000000' || '${batch}' || lpad(to_hex(n), 4, '0'))::uuid as id, (${body}) as body
         from generate_series(1, ${count}) n
     ), of as (
       select workspace_id, project_id, id as webhook_id from webhooks where id = '${decodeId('webhook', webhook.id)}'
     ), submitted as (
       insert into submissions (workspace_id, project_id, id, webhook_id, received_at, headers, body, body_size, decision, record_ids)
       select workspace_id, project_id, id, webhook_id, now(), '{}', body, octet_length(body), '{"destinations":[]}', array[id] from made, of
     )
     insert into records (workspace_id, project_id, id, submission_id, dataset, received_at, hops)
     select workspace_id, project_id, id, id, 'd', now(), 0 from made, of`,
  )
  await database.close()
}

describe('all retained records', () => {
  test('are sorted by a view, and their keys are available, however many are newer', async () => {
    const webhook = await aWebhook(world)
    await stored(webhook, {
      count: 12_000,
      body: `case when n = 1 then '{"n":99999,"old":1}' else '{"n":' || n || '}' end`,
    })
    const view = await aView(webhook, { columns: [{ key: 'n' }], sort_key: 'n', sort_dir: 'desc' })
    const { body } = await recordsOf(webhook, `?view=${view.id}&limit=3`)
    assert.deepEqual(
      body.rows.map((row: Answer['body']) => row.n),
      [99_999, 12_000, 11_999],
    )
    assert.deepEqual(keysOf(body.available_columns), ['n', 'old'])
    assert.deepEqual([body.sorted_since, body.columns_complete], [null, true])
    assert.deepEqual(keysOf((await recordsOf(webhook, '?limit=1')).body.columns), ['n', 'old'])
  })

  test('a sort that uses up its time answers with the newest records that it compared, and reports since when', async () => {
    const webhook = await aWebhook(world)
    await stored(webhook, { count: 10_050, body: `'{"n":' || n || '}'` })
    const clock = { ...world.clock, now: () => world.clock.advance(20_000) ?? world.clock.now() }
    const { deps } = world.app
    const database = deps.database.forWorkspace(decodeId('workspace', world.installed.workspace.id) ?? '')
    const of = {
      workspaceId: decodeId('workspace', world.installed.workspace.id) ?? '',
      projectId: decodeId('project', world.installed.project.id) ?? '',
      webhookId: decodeId('webhook', webhook.id) ?? '',
    }
    const order = { key: 'n', dir: 'asc', limit: 1 } as const
    const inTime = await sortRecords({ db: database, clock: world.clock }, { of, order })
    const late = await sortRecords({ db: database, clock }, { of, order })
    assert.deepEqual([numberOf(inTime.ids), inTime.since], [1, null])
    assert.deepEqual([numberOf(late.ids), numberOf([late.since ?? ''])], [51, 51])
  })

  test('a call that has read enough payloads reports that columns are missing, and the next calls read on', async () => {
    const webhook = await aWebhook(world)
    await stored(webhook, {
      count: 40,
      body: `'{"filler":"' || repeat('x', 1000000) || '","k' || n || '":1}'`,
    })
    const first = (await recordsOf(webhook, '?limit=1')).body
    assert.deepEqual([first.columns_complete, first.columns.length < 41], [false, true])
    const second = (await recordsOf(webhook, '?limit=1')).body
    assert.deepEqual([second.columns_complete, second.columns.length], [true, 41])
  })

  test('a column ends with the last record that has it', async () => {
    const webhook = await aWebhook(world)
    await stored(webhook, { count: 3, body: `'{"k' || n || '":1,"all":1}'` })
    assert.deepEqual(keysOf((await recordsOf(webhook)).body.columns).toSorted(), ['all', 'k1', 'k2', 'k3'])
    const database = behind(world)
    for (const table of ['records', 'submissions'])
      await statement(
        database,
        `delete from ${table} where id in (select id from submissions where webhook_id = '${decodeId('webhook', webhook.id)}' order by id limit 2)`,
      )
    await database.close()
    assert.deepEqual(keysOf((await recordsOf(webhook)).body.columns).toSorted(), ['all', 'k3'])
  })
})

describe('the order of values', () => {
  const ORDER = [
    '-1e400',
    '-12345678901234567891',
    '-12345678901234567890',
    '-1.5',
    '0e99999999',
    '1e-7',
    '0.10',
    '" 7 "',
    '7.5',
    '"+8"',
    '12345678901234567890',
    '"12345678901234567891"',
    '1e300',
    '1e999999999',
    '"\\u0000"',
    '"1e5"',
    '"B"',
    '"a"',
    '"é"',
    'false',
    'true',
    '[]',
  ]

  test('is numbers and decimals in text, other text, booleans, empty objects and lists, and missing values last in both directions', async () => {
    const webhook = await aWebhook(world)
    const missing = ['null', '{"x":1}', '[1]']
    const shuffled = [...ORDER.keys()].toSorted((a, b) => ((a * 7) % 11) - ((b * 7) % 11))
    for (const at of shuffled)
      assert.equal((await post(webhook.public_url, `{"v":${ORDER[at]},"at":${at}}`)).status, 201)
    for (const value of missing) await post(webhook.public_url, `{"v":${value},"at":-1}`)
    const order = async (sort_dir: string): Promise<unknown[]> => {
      const view = await aView(webhook, { name: sort_dir, columns: [{ key: 'at' }], sort_key: 'v', sort_dir })
      return (await recordsOf(webhook, `?view=${view.id}`)).body.rows.map((row: Answer['body']) => row.at)
    }
    assert.deepEqual(await order('asc'), [...ORDER.keys(), -1, -1, -1])
    assert.deepEqual(await order('desc'), [...[...ORDER.keys()].toReversed(), -1, -1, -1])
  })

  test('no payload breaks it: escapes that PostgreSQL refuses, duplicate keys, numbers beyond any bound, keys that look like places', async () => {
    const webhook = await aWebhook(world)
    const payloads = [
      '{"a":"\\u0000\\ud800","n":4}',
      '{"\\u0000":1,"n":3}',
      '{"n":9,"n":2}',
      `{"n":1,"big":${'9'.repeat(200_000)}}`,
      '[{"n":8}]',
      '[3]',
      '"text"',
      '{"n":0,"007":5,"-1":6}',
    ]
    for (const payload of payloads)
      assert.equal((await post(webhook.public_url, payload)).status, 201, payload.slice(0, 80))
    const first = async (sort_key: string): Promise<unknown[]> => {
      const view = await aView(webhook, { name: `by ${sort_key}`, columns: [{ key: sort_key }], sort_key })
      const { status, body } = await recordsOf(webhook, `?view=${view.id}`)
      assert.deepEqual([status, body.count], [200, payloads.length], JSON.stringify(body))
      const values: unknown[] = body.rows.map((row: Answer['body']) => row[sort_key])
      const present = values.filter((value) => value !== null)
      assert.deepEqual(values.slice(0, present.length), present, sort_key)
      return present
    }
    assert.deepEqual(await first('n'), [0, 1, 2, 3, 4])
    assert.equal((await first('big')).length, 1)
    assert.deepEqual(await first('-1'), [6])
    assert.deepEqual(await first('007'), [5])
    assert.deepEqual(await first('0'), [3])
    assert.deepEqual(await first('0.n'), [8])
    assert.deepEqual(await first('value'), ['text'])
    assert.equal((await recordsOf(webhook)).body.count, payloads.length)
  })
})

describe('the route', () => {
  test('only GET is routed', async () => {
    const webhook = await aWebhook(world)
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
      const { status, body } = await world.admin(method, `webhooks/${webhook.id}/records`, {})
      assert.deepEqual([status, body.reason], [405, 'method_not_allowed'], method)
    }
  })

  test('an unknown endpoint and one of another project are 404', async () => {
    const { body } = await world.admin('POST', 'projects', { name: 'elsewhere' })
    const webhook = await received([{ a: 1 }])
    assert.equal((await world.admin('GET', `projects/${body.project.id}/webhooks/${webhook.id}/records`)).status, 404)
    assert.equal((await recordsOf({ id: 'whk_01hzzzzzzzzzzzzzzzzzzzzzzz' })).status, 404)
    assert.equal((await world.admin('GET', `projects/${body.project.id}/webhooks/x/records`)).status, 404)
  })

  test('a key with the role viewer may read, and no key may not', async () => {
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

describe('from and to bound the lists of events', () => {
  test('from is inside and to is not, in submissions, records and deliveries alike', async () => {
    const sink = await aSink()
    const own = await aWorld()
    try {
      await aDestination(own, { url: sink.url })
      const at: string[] = []
      for (let hour = 0; hour < 3; hour += 1) {
        at.push(new Date(own.clock.now()).toISOString())
        assert.equal((await post(own.endpoint, '{}')).status, 201)
        own.clock.advance(3_600_000)
      }
      const [first = '', second = '', third = ''] = at
      for (const list of ['submissions', 'records', 'deliveries']) {
        const count = async (query: string): Promise<number> => {
          const answer = await own.admin('GET', `${list}?${query}`)
          assert.equal(answer.status, 200, JSON.stringify(answer.body))
          return answer.body[list].length
        }
        assert.equal(await count(''), 3)
        assert.equal(await count(`from=${second}`), 2, list)
        assert.equal(await count(`to=${second}`), 1, list)
        assert.equal(await count(`from=${first}&to=${third}`), 2, list)
        assert.equal(await count(`from=${third}&to=${first}`), 0, list)
        assert.equal(await count(`from=${encodeURIComponent(second.replace('Z', '+00:00'))}`), 2, list)
        for (const wrong of ['from=yesterday', 'to=2026-02-30T00:00:00Z', 'from=', 'to=1700000000']) {
          const { status, body } = await own.admin('GET', `${list}?${wrong}`)
          assert.deepEqual([status, body.reason], [400, 'invalid_request'], wrong)
          assert.match(body.error, /^(from|to): /)
        }
      }
    } finally {
      await own.stop()
      await sink.stop()
    }
  })

  test('every filter of a list of events is described in the OpenAPI document', async () => {
    const document: Answer['body'] = await (await fetch(`${world.baseUrl}/openapi.json`)).json()
    for (const list of ['submissions', 'records', 'deliveries']) {
      const { parameters } = document.paths[`/admin/api/${list}`].get
      const names = parameters.map(({ name }: { name: string }) => name)
      assert.ok(names.includes('from') && names.includes('to'), list)
      for (const { name, description } of parameters) assert.ok(description !== undefined, `${list} ${name}`)
    }
  })
})
