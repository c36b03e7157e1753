import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { parquetReadObjects } from 'hyparquet'
import { aDestination, aWebhook, post } from '../stage/fixtures.ts'
import { aSink, type Answer, type World } from '../stage/harness.ts'
import { onWorldStage } from '../stage/world-stage.ts'

/** Answers that need much work are made in threads, and are those of small inputs. */
let world: World
let webhook: Answer['body']
const ids: string[] = []

const STORED = 4
const MEMBERS = 5_000
/** About 160 KiB. */
const payloadOf = (index: number): string => {
  const members = Array.from({ length: MEMBERS }, (_unused, at) => `"k${at}":"${'v'.repeat(20)}${at}"`)
  return `{"n":${index}.50,"o":{${members.join(',')}}}`
}

onWorldStage(async (made) => {
  world = made.world
  webhook = await aWebhook(world, { dataset: 'heavy' })
  for (let index = 0; index < STORED; index += 1) {
    const { status, body } = await post(webhook.public_url, payloadOf(index))
    assert.equal(status, 201)
    ids.unshift(body.records[0].id)
  }
})

/** The tasks that ran in threads while `work` was done. */
async function threadsFor<T>(
  work: () => Promise<T>,
): Promise<{ readonly value: T; readonly ran: ReadonlySet<string> }> {
  const before = new Map(world.app.deps.heavy.load().ran)
  const value = await work()
  const ran = [...world.app.deps.heavy.load().ran].filter(([task, count]) => count > (before.get(task) ?? 0))
  return { value, ran: new Set(ran.map(([task]) => task)) }
}

// oxlint-disable-next-line max-params -- as `admin` takes them
async function asked(method: string, path: string, body?: unknown): Promise<Answer['body']> {
  const { value, ran } = await threadsFor(() => world.admin(method, path, body))
  assert.equal(value.status, 200, JSON.stringify(value.body).slice(0, 300))
  return { ...value.body, ran: [...ran].toSorted() }
}

test('a table of records is flattened in threads, with its columns', async () => {
  const { rows, available_columns, left_out, count, ran } = await asked(
    'GET',
    `webhooks/${webhook.id}/records?limit=1000`,
  )
  assert.deepEqual(ran, ['records.columns', 'records.rows'])
  assert.deepEqual([count, left_out, available_columns.length], [STORED, [], MEMBERS + 1])
  assert.deepEqual(
    rows.map((row: Record<string, unknown>) => [row['_id'], row['_source'], row['n'], row['o.k7']]),
    ids.map((id, at) => [id, 'endpoint_url', STORED - 1 - at + 0.5, `${'v'.repeat(20)}7`]),
  )
})

test('a list of records contains the payloads as they came in, and a page ends when it is large', async () => {
  const { value, ran } = await threadsFor(() =>
    fetch(`${world.baseUrl}/admin/api/records?limit=2&dataset=heavy`, {
      headers: { authorization: `Bearer ${world.installed.api_key}` },
    }),
  )
  const text = await value.text()
  assert.deepEqual([...ran], [])
  assert.ok(text.includes(`"data":${payloadOf(STORED - 1)}`) && text.includes(`"data":${payloadOf(STORED - 2)}`))
  const { records, next_cursor } = JSON.parse(text)
  assert.deepEqual([records.map(({ id }: { id: string }) => id), typeof next_cursor], [ids.slice(0, 2), 'string'])

  const big = await aWebhook(world, { dataset: 'big' })
  const sent: string[] = []
  for (let index = 0; index < 6; index += 1)
    sent.unshift((await post(big.public_url, JSON.stringify('x'.repeat(1_000_000)))).body.records[0].id)
  const seen: string[] = []
  for (let cursor = ''; ;) {
    const page = await asked('GET', `records?dataset=big&limit=50${cursor}`)
    assert.ok(page.records.length <= 5)
    seen.push(...page.records.map(({ id }: { id: string }) => id))
    if (page.next_cursor === null) break
    cursor = `&cursor=${page.next_cursor}`
  }
  assert.deepEqual(seen, sent)
})

test('a search reads payloads in threads', async () => {
  const { records, ran } = await asked('GET', `search/events?dataset=heavy&q=${'v'.repeat(20)}77`)
  assert.deepEqual(ran, ['search.match'])
  assert.deepEqual(
    records.map(({ id }: { id: string }) => id),
    ids,
  )
  const none = await asked('GET', 'search/events?dataset=heavy&q=absent')
  assert.deepEqual([none.records, none.scanned], [[], STORED])
  const one = await asked('GET', 'search/events?dataset=heavy&f=n:gte:3')
  assert.deepEqual(
    one.records.map(({ id }: { id: string }) => id),
    ids.slice(0, 1),
  )
})

test('a search for submissions that were filed nowhere decodes their bodies in threads', async () => {
  const { public_url } = await aWebhook(world, { criteria: [{ path: 'never', equals: 'met' }] })
  const { id } = (await post(public_url, payloadOf(8))).body
  const { submissions, ran } = await asked('GET', 'search/submissions?f=n:equals:8.50')
  assert.ok(ran.includes('search.match'))
  assert.deepEqual(
    submissions.map((one: { id: string }) => one.id),
    [id],
  )
})

test('a dry run on stored and on sent payloads runs in threads', async () => {
  const criteria = [{ path: 'n', op: 'gte', value: 2 }]
  const mappings = [{ target: 'n', path: 'n' }]
  const stored = await asked('POST', `webhooks/${webhook.id}/test`, { recent: 100, criteria, mappings })
  assert.deepEqual(stored.ran, ['payloads.dry-run'])
  assert.deepEqual([stored.tested, stored.matched], [STORED, 2])
  assert.deepEqual(
    stored.results.map(({ matched, data, failed }: Answer['body']) => [matched, data, failed?.saw]),
    [
      [true, { n: 3.5 }, undefined],
      [true, { n: 2.5 }, undefined],
      [false, null, 1.5],
      [false, null, 0.5],
    ],
  )
  const payloads_text = `[${payloadOf(1)},${payloadOf(9)}]`
  const sent = await asked('POST', `webhooks/${webhook.id}/test`, { payloads_text, criteria, mappings: [] })
  assert.deepEqual(sent.ran, ['payloads.dry-run'])
  assert.deepEqual(
    sent.results.map(({ index, matched, data }: Answer['body']) => [index, matched, data?.n]),
    [
      [0, false, undefined],
      [1, true, 9.5],
    ],
  )
})

describe('templates', () => {
  const heavy = { a: '{{data.o | default: 1}}'.repeat(60) }

  test('a preview of a template that needs much work is rendered in a thread, and another one is not', async () => {
    const url = 'https://example.com/'
    const light = await asked('POST', 'destinations/preview', {
      url,
      record_id: ids[0],
      payload_template: { n: '{{ id }}' },
    })
    // The record alone is long.
    assert.deepEqual([light.ran, light.request.body], [['template.render'], `{"n":"${ids[0]}"}`])
    const small = (await post(`${world.endpoint}/light`, '{"o":1}')).body.records[0].id
    const none = await asked('POST', 'destinations/preview', { url, record_id: small, payload_template: heavy })
    assert.deepEqual([none.ran, none.request.body], [[], `{"a":"${'1'.repeat(60)}"}`])
  })

  test('a delivery whose template needs much work is rendered in a thread, and the attempt shows the same body', async () => {
    const sink = await aSink()
    await aDestination(world, { url: sink.url, datasets: ['rendered'], payload_template: { k: '{{ data.o.k7 }}' } })
    const { ran } = await threadsFor(async () => {
      await post(`${world.endpoint}/rendered`, payloadOf(1))
      await sink.until(1)
    })
    assert.ok(ran.has('template.render'))
    const body = `{"k":"${'v'.repeat(20)}7"}`
    assert.equal(sink.received[0]?.body, body)
    const { deliveries } = (await world.admin('GET', 'deliveries?limit=1')).body
    await world.idle()
    const [attempt] = (await world.admin('GET', `deliveries/${deliveries[0].id}`)).body.delivery.attempts
    assert.equal(attempt.outcome, 'succeeded')
    const shown = (await world.admin('GET', `attempts/${attempt.id}`)).body
    assert.deepEqual([shown.body.as_sent, shown.body.text], [true, body])
    await sink.stop()
  })
})

test('exports as CSV and Parquet are written in threads', async () => {
  const { datasets } = (await world.admin('GET', 'datasets')).body
  const { id } = datasets.find(({ name }: { name: string }) => name === 'heavy')
  const get = async (path: string): Promise<Buffer> => {
    const response = await fetch(`${world.baseUrl}/admin/api/datasets/${id}/export/${path}`, {
      headers: { authorization: `Bearer ${world.installed.api_key}` },
    })
    assert.equal(response.status, 200)
    return Buffer.from(await response.arrayBuffer())
  }
  const oldest = ids.toReversed()
  const csv = await threadsFor(() => get('csv?columns=n,o.k1'))
  assert.ok(csv.ran.has('export.csv'))
  const lines = csv.value.toString().trimEnd().split('\r\n')
  assert.deepEqual(
    lines.slice(1).map((line) => line.split(',').filter((_cell, at) => at !== 1)),
    oldest.map((one, at) => [one, `${at}.50`, `"${'v'.repeat(20)}1"`]),
  )
  const parquet = await threadsFor(() => get('parquet?columns=n,o.k1'))
  assert.ok(parquet.ran.has('export.parquet'))
  const file = new Uint8Array(parquet.value).buffer
  const rows = await parquetReadObjects({ file })
  assert.deepEqual(
    rows.map((row) => [row['_id'], row['o.k1'], row['_data']]),
    oldest.map((one, at) => [one, `${'v'.repeat(20)}1`, payloadOf(at)]),
  )
})

test('a plan of a configuration compares stored payloads in threads', async () => {
  const config = {
    version: 1,
    rules: [{ name: 'all', dataset: 'all', enabled: true, conditions: [], mappings: [] }],
    destinations: [{ name: 'big ones', url: 'https://example.com/', conditions: [{ path: 'n', op: 'gte', value: 3 }] }],
  }
  const { plan, ran } = await asked('POST', 'config/plan', { config, recent: 100 })
  assert.ok(ran.includes('routes.compare'))
  assert.ok(plan.routing.compared >= STORED)
})

test('a workflow is tried in a thread when its steps have templates', async () => {
  const steps = [{ id: 'told', type: 'emit_event', dataset: 'out', data: { k: '{{ payload.o.k7 }}' } }]
  const tried = await asked('POST', 'workflows/dry-run', { steps, record_id: ids[0], entry_dataset: 'heavy' })
  assert.deepEqual(tried.ran, ['workflow.dry-run'])
  assert.deepEqual([tried.starts, tried.complete, tried.failed], [true, true, null])
  assert.deepEqual(tried.steps[0].input, { dataset: 'out', data: { k: `${'v'.repeat(20)}7` } })
})
