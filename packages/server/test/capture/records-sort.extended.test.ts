import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { decodeId } from '@postroad/contract'
import { sortRecords } from '../../src/resources/capture/records/sort/index.ts'
import { aWebhook, behind, post, statement } from '../stage/fixtures.ts'
import type { Answer, World } from '../stage/harness.ts'
import { onWorldStage } from '../stage/world-stage.ts'

/** The records listing through a view: its columns, and the order of the rows. */
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

async function aView(webhook: { id: string }, members: object): Promise<Answer['body']> {
  const answer = await world.admin('POST', `webhooks/${webhook.id}/views`, { name: 'view', ...members })
  assert.equal(answer.status, 201, JSON.stringify(answer.body))
  return answer.body.view
}

describe('with a view', () => {
  test('each row has _id and exactly the columns of the view, a missing value is null, and available_columns is the full set', async () => {
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

  test('rows are sorted by the sort key, numbers numerically and missing values last, before the limit applies', async () => {
    const webhook = await received([{ n: 10 }, {}, { n: 9 }, { n: '100' }, { n: -1 }])
    const order = async (view: object, query = ''): Promise<unknown[]> => {
      const { id } = await aView(webhook, { columns: [{ key: 'n' }], sort_key: 'n', ...view })
      return (await recordsOf(webhook, `?view=${id}${query}`)).body.rows.map((row: { n: unknown }) => row.n)
    }
    assert.deepEqual(await order({ name: 'up', sort_dir: 'asc' }), [-1, 9, 10, '100', null])
    assert.deepEqual(await order({ name: 'down', sort_dir: 'desc' }), ['100', 10, 9, -1, null])
    assert.deepEqual(await order({ name: 'first' }, '&limit=2'), [-1, 9])
  })

  test('numbers come before text, and text before true and false; equal values stay newest first, and a view can sort by the time of receipt', async () => {
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

  test('a view of another endpoint, an unknown view and an invalid id all get 404', async () => {
    const [one, other] = [await received([{ a: 1 }]), await aWebhook(world)]
    const view = await aView(other, { columns: [{ key: 'a' }] })
    for (const id of [view.id, 'vie_01hzzzzzzzzzzzzzzzzzzzzzzz', 'nonsense', '', other.id]) {
      const { status, body } = await recordsOf(one, `?view=${id}`)
      assert.deepEqual([status, body.reason], [404, 'not_found'], id)
    }
  })

  test('a default view applies only when the caller names it', async () => {
    const webhook = await received([{ a: 1 }])
    await aView(webhook, { columns: [{ key: 'b' }], is_default: true })
    assert.equal((await recordsOf(webhook)).body.view, null)
  })
})

let batches = 0
/** The position of the first id among the stored ones. */
const numberOf = ([id = '']: readonly string[]): number => Number.parseInt(id.slice(-4), 16)

/** Files more records for the endpoint directly in the database, oldest first: `body` is SQL over the number `n`. */
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
  test('a view sorts all retained records, and all of their keys are available, however many records are newer', async () => {
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

  test('a sort that uses up its time answers with the newest records that it compared, and reports the time from which they are complete', async () => {
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

  test('a call that has read enough payloads reports that columns are missing, and the next calls continue', async () => {
    const webhook = await aWebhook(world)
    await stored(webhook, {
      count: 40,
      body: `'{"filler":"' || repeat('x', 1000000) || '","k' || n || '":1}'`,
    })
    const first = (await recordsOf(webhook, '?limit=1')).body
    assert.deepEqual([first.columns_complete, first.columns.length < 41], [false, true])
    let next = first
    for (let calls = 1; calls < 12 && next.columns_complete === false; calls += 1)
      next = (await recordsOf(webhook, '?limit=1')).body
    assert.deepEqual([next.columns_complete, next.columns.length], [true, 41])
  })

  test('a column disappears with the last record that has it', async () => {
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

  test('the order is numbers and decimal texts, other texts, booleans, empty objects and lists; missing values come last in both directions', async () => {
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

  test('no payload breaks the sort: escapes that PostgreSQL refuses, duplicate keys, numbers beyond any bound, keys that look like indexes', async () => {
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
