import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodeId } from '@postroad/contract'
import { compileOrderKey } from '../../src/domain/delivery/order-key.ts'
import { sql, type Database } from '../../src/platform/db.ts'
import { aDestination, anIngestKey, aRule, aWebhook, post } from '../stage/fixtures.ts'
import type { Answer, Sink, World } from '../stage/harness.ts'
import { instancesOf, storeWorkflow } from '../stage/workflow-stage.ts'
import { onWorldStage } from '../stage/world-stage.ts'

/** Paths into the request of an event, in every place that takes a path or a template. */
let world: World
let sink: Sink
let database: Database
let key: string

onWorldStage(
  async (made) => {
    ;({ world, sink, database } = made)
    key = (await anIngestKey(world)).key
  },
  { loops: ['workflows.run'] },
)

const GITHUB = '$request.headers.x-github-event'
const decisionOf = async (submission: string): Promise<Answer['body']> =>
  (await world.admin('GET', `submissions/${submission}`)).body.submission.decision
const dataOf = async (record: string): Promise<Answer['body']> =>
  (await world.admin('GET', `records/${record}`)).body.record.data
const sentFor = (record: string): Answer['body'] =>
  JSON.parse(sink.received.find(({ headers }) => headers['service-event-id'] === record)?.body ?? 'null')

test('the criteria of an endpoint take the pushes of GitHub by their header, and the decision says which header was seen', async () => {
  const { public_url: url } = await aWebhook(world, {
    dataset: 'pushes',
    criteria: [{ path: GITHUB, equals: 'push' }],
    mappings: [
      { target: 'event', path: GITHUB },
      { target: 'tenant', path: '$request.query.tenant' },
      { target: 'tags', path: '$request.query.tag' },
      { target: 'both', path: '$request.headers.x-both' },
    ],
  })
  const push = await post(`${url}?tenant=acme&tag=b&tag=a`, '{}', {
    headers: { 'X-GitHub-Event': 'push', 'X-Both': 'one, two' },
  })
  assert.deepEqual(await dataOf(push.body.records[0].id), {
    event: 'push',
    tenant: 'acme',
    tags: ['b', 'a'],
    both: 'one, two',
  })
  const ping = await post(url, '{}', { headers: { 'X-GitHub-Event': 'ping' } })
  assert.deepEqual([ping.status, ping.body.records], [201, []])
  const failed = { index: 0, path: GITHUB, op: 'equals', expected: 'push', saw: 'ping' }
  assert.deepEqual((await decisionOf(ping.body.id)).criteria, { matched: false, failed })
  const none = await post(url, '{}')
  assert.deepEqual((await decisionOf(none.body.id)).criteria.failed.saw, undefined)
})

test('rules route Shopify by its topic, and CloudEvents in binary mode by ce-type', async () => {
  await aRule(world, {
    name: 'shopify',
    dataset: 'shopify_orders',
    conditions: [{ path: '$request.headers.x-shopify-topic', op: 'in', value: ['orders/create', 'orders/updated'] }],
  })
  await aRule(world, {
    name: 'cloud events',
    dataset: 'cloud_events',
    conditions: [{ path: '$request.headers.ce-type', op: 'regex', value: String.raw`^com\.example\.` }],
  })
  const routed = async (headers: Record<string, string>): Promise<readonly string[]> => {
    const { body } = await post(`${world.baseUrl}/v1/ingest/${key}`, '{"id":1}', { headers })
    return body.routed.map(({ dataset }: { dataset: string }) => dataset)
  }
  assert.deepEqual(await routed({ 'X-Shopify-Topic': 'orders/create' }), ['shopify_orders'])
  assert.deepEqual(await routed({ 'X-Shopify-Topic': 'products/create' }), [])
  assert.deepEqual(await routed({ 'ce-type': 'com.example.order', 'ce-id': '1' }), ['cloud_events'])
  assert.deepEqual(await routed({}), [])
})

test('the payload member $request is another place, and a credential matches nothing', async () => {
  const own = String.raw`\$request.kind`
  const rules = [
    { name: 'own', dataset: 'own_member', conditions: [{ path: own, equals: 'mine' }] },
    {
      name: 'credential',
      dataset: 'credential',
      conditions: [{ path: '$request.headers.authorization', op: 'not_equals', value: 'x' }],
    },
  ]
  for (const rule of rules) await aRule(world, rule)
  const { body } = await post(`${world.baseUrl}/v1/ingest/${key}`, '{"$request":{"kind":"mine"}}', {
    headers: { authorization: 'Basic c2VjcmV0' },
  })
  assert.deepEqual(
    body.routed.map(({ dataset }: { dataset: string }) => dataset),
    ['own_member'],
  )
  const decision = (await decisionOf(body.id)).rules.find(({ rule }: { rule: string }) => rule === 'credential')
  assert.equal(decision.failed.saw, '•••')
})

test('a destination takes events by its conditions on the request, and its template renders values of the request', async () => {
  const template = { type: `{{ ${GITHUB} }}`, from: '{{ $request.method }} {{ $request.path }}', id: '{{ data.id }}' }
  const { destination } = await aDestination(world, {
    url: sink.url,
    datasets: ['templated'],
    conditions: [{ path: '$request.query.env', equals: 'live' }],
    payload_template: template,
  })
  const url = `${world.baseUrl}/v1/ingest/${key}/templated`
  const headers = { 'X-GitHub-Event': 'issues' }
  const live = await post(`${url}?env=live`, '{"id":7}', { headers })
  const tried = await post(`${url}?env=test`, '{"id":8}', { headers })
  await world.idle()
  const record = live.body.records[0].id
  const rendered = { type: 'issues', from: 'POST /v1/ingest/•••/templated', id: 7 }
  assert.deepEqual(sentFor(record), rendered)
  assert.equal(sentFor(tried.body.records[0].id), null)
  const { deliveries } = (await world.admin('GET', `deliveries?record_id=${record}`)).body
  const { attempts } = (await world.admin('GET', `deliveries/${deliveries[0].id}`)).body.delivery
  const attempt = (await world.admin('GET', `attempts/${attempts[0].id}`)).body
  assert.deepEqual([attempt.body.as_sent, JSON.parse(attempt.body.text)], [true, rendered])
  const preview = await world.admin('POST', 'destinations/preview', {
    destination_id: destination.id,
    record_id: record,
  })
  assert.deepEqual(JSON.parse(preview.body.request.body), rendered)
})

test('the customer, the key of a repeat and the order of an event can come from its request', async () => {
  const { public_url: url } = await aWebhook(world, {
    dataset: 'keyed',
    customer: { path: '$request.query.customer' },
    idempotency: { path: '$request.headers.x-id' },
  })
  await aDestination(world, { url: sink.url, datasets: ['keyed'], ordering: { path: '$request.headers.x-id' } })
  const sent = async () => post(`${url}?customer=acme`, '{}', { headers: { 'x-id': '7' } })
  const [first, again] = [await sent(), await sent()]
  assert.deepEqual([first.status, again.status, again.body.id], [201, 200, first.body.id])
  assert.equal((await decisionOf(first.body.id)).customer.customer_id, 'acme')
  const { key: order } = await database.one<{ key: string | null }>(
    sql`select order_key as key from deliveries where record_id = ${decodeId('record', first.body.records[0].id) ?? ''}`,
  )
  assert.equal(order, compileOrderKey('id')({ payload: { id: '7' }, request: null }, ''))
})

test('a workflow starts, branches, waits and renders by the request of its record', async () => {
  const dataset = 'requested_orders'
  const id = await storeWorkflow(world, {
    dataset,
    conditions: [{ path: '$request.headers.x-topic', equals: 'orders/create' }],
    steps: [
      {
        id: 'which',
        type: 'branch',
        branches: [{ name: 'live', conditions: [{ path: '$request.query.env', equals: 'live' }], steps: [] }],
        else: [],
      },
      {
        id: 'paid',
        type: 'wait_for_event',
        dataset: 'requested_payments',
        conditions: [{ path: '$request.headers.x-order', equals: '{{ $request.headers.x-order }}' }],
        timeout_seconds: 600,
        on_timeout: 'fail',
      },
      {
        id: 'file',
        type: 'emit_event',
        dataset: 'requested_done',
        data: { topic: '{{ $request.headers.x-topic }}', taken: '{{ steps.which.output.taken }}' },
      },
    ],
  })
  const url = `${world.baseUrl}/v1/ingest/${key}`
  await post(`${url}/${dataset}?env=live`, '{}', { headers: { 'x-topic': 'orders/create', 'x-order': '17' } })
  await post(`${url}/${dataset}?env=live`, '{}', { headers: { 'x-topic': 'orders/deleted', 'x-order': '18' } })
  await post(`${url}/requested_payments`, '{}', { headers: { 'x-order': '18' } })
  await post(`${url}/requested_payments`, '{}', { headers: { 'x-order': '17' } })
  await world.idle()
  assert.deepEqual(
    (await instancesOf(world, id)).map(({ state, error }) => [state, error]),
    [['completed', null]],
  )
  const { records } = (await world.admin('GET', 'records?dataset=requested_done')).body
  assert.deepEqual(
    records.map(({ data }: { data: unknown }) => data),
    [{ topic: 'orders/create', taken: 'live' }],
  )
})

test('search finds events by the request, and a dry run of rules reads the requests of stored events', async () => {
  const url = `${world.baseUrl}/v1/ingest/${key}/searched`
  const one = await post(`${url}?region=eu`, '{}', { headers: { 'x-topic': 'a', authorization: 'Basic c2VjcmV0' } })
  await post(`${url}?region=us`, '{}', { headers: { 'x-topic': 'b' } })
  const found = async (f: string): Promise<readonly string[]> => {
    const query = new URLSearchParams({ dataset: 'searched', f })
    const answer = await world.admin('GET', `search/events?${query.toString()}`)
    assert.equal(answer.status, 200, JSON.stringify(answer.body))
    return answer.body.records.map(({ id }: { id: string }) => id)
  }
  const [record] = one.body.records
  assert.deepEqual(await found('$request.headers.x-topic:equals:a'), [record.id])
  assert.deepEqual(await found('$request.query.region:equals:eu'), [record.id])
  assert.deepEqual(await found('$request.headers.authorization:exists'), [])
  assert.equal((await found('$request.path:contains:/searched')).length, 2)
  assert.equal((await found('$request.method:equals:POST')).length, 2)
  const { body } = await world.admin('POST', 'rules/test', {
    conditions: [{ path: '$request.headers.x-shopify-topic', equals: 'orders/create' }],
    mappings: [{ target: 'topic', path: '$request.headers.x-shopify-topic' }],
    recent: 50,
  })
  const matched = body.results.filter((result: Answer['body']) => result.matched)
  assert.deepEqual(
    matched.map(({ data }: { data: unknown }) => data),
    [{ topic: 'orders/create' }],
  )
})

test('an event without a sender has no request', async () => {
  const dataset = 'made'
  const id = await storeWorkflow(world, {
    dataset: 'makes',
    steps: [{ id: 'file', type: 'emit_event', dataset, data: { method: '{{ $request.method }}' } }],
  })
  const { destination } = await aDestination(world, {
    url: sink.url,
    datasets: [dataset],
    payload_template: { method: '{{ $request.method }}', type: '{{ $request.headers.content-type }}' },
  })
  await post(`${world.baseUrl}/v1/ingest/${key}/makes`, '{}')
  await world.idle()
  assert.deepEqual(
    (await instancesOf(world, id)).map(({ state }) => state),
    ['completed'],
  )
  const { records } = (await world.admin('GET', `records?dataset=${dataset}`)).body
  assert.deepEqual(records[0].data, { method: 'POST' })
  assert.deepEqual(sentFor(records[0].id), { method: null, type: null }, destination.id)
})
