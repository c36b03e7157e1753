import assert from 'node:assert/strict'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, test } from 'node:test'
import { routes, SERVICE_VERSION } from '@postroad/contract'
import { aSink, aWorld, type Sink, type World } from '../../server/test/stage/harness.ts'
import { createClient, ServiceError, type Client } from '../src/client.ts'

let world: World
let sink: Sink
let client: Client

before(async () => {
  world = await aWorld()
  sink = await aSink()
  client = createClient({ baseUrl: `${world.baseUrl}/`, token: world.installed.api_key })
})
after(async () => {
  await world.stop()
  await sink.stop()
})

type Reply = { readonly status: number; readonly headers?: Record<string, string>; readonly body: string }

/** A server that gives these responses in order, then the last one again, and records its requests. */
async function aScript(...replies: readonly Reply[]) {
  const asked: IncomingMessage[] = []
  const server = createServer((request, response) => {
    const reply = replies[Math.min(asked.length, replies.length - 1)]
    asked.push(request)
    assert.ok(reply)
    response.writeHead(reply.status, reply.headers).end(reply.body)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return { asked, client: createClient({ baseUrl, token: 'hk_x' }), [Symbol.dispose]: () => server.close() }
}

function isRefusal(wanted: Partial<ServiceError>): (error: unknown) => true {
  return (error) => {
    assert.ok(error instanceof ServiceError, String(error))
    for (const [name, value] of Object.entries(wanted)) assert.equal(Reflect.get(error, name), value, name)
    return true
  }
}

const EMPTY = { status: 200, body: '{"deliveries":[],"next_cursor":null}' }

test('every route of the contract is a method of the client', () => {
  for (const [room, verbs] of Object.entries(routes)) {
    for (const verb of Object.keys(verbs))
      assert.equal(typeof Reflect.get(Reflect.get(client, room), verb), 'function', `${room}.${verb}`)
  }
})

test('a resource is created, read, changed and deleted with the members of its route', async () => {
  const made = await client.destinations.create({ name: 'first', url: sink.url, datasets: ['events'] })
  assert.match(made.signing_secret, /^whsec_/)
  const { id } = made.destination
  const changed = await client.destinations.update({ id, name: 'second' })
  assert.equal(changed.destination.name, 'second')
  assert.deepEqual((await client.destinations.get({ id })).destination, changed.destination)
  assert.deepEqual(await client.destinations.remove({ id }), { ok: true })
  await assert.rejects(client.destinations.get({ id }), isRefusal({ status: 404, reason: 'not_found' }))
})

test('a repeat with an idempotency key gets the first response again', async () => {
  const make = () => client.rules.create({ name: 'once', dataset: 'd' }, { idempotencyKey: 'sdk-1' })
  assert.deepEqual(await make(), await make())
  await assert.rejects(
    client.rules.create({ name: 'once', dataset: 'd' }),
    isRefusal({ status: 409, reason: 'name_taken' }),
  )
})

test('a list is awaited for one page and iterated for all of them', async () => {
  for (const name of ['a', 'b', 'c']) await client.datasets.create({ name })
  const page = await client.datasets.list({ limit: 2 })
  assert.deepEqual(
    page.datasets.map((dataset) => dataset.name),
    ['c', 'b'],
  )
  assert.notEqual(page.next_cursor, null)
  const names: string[] = []
  for await (const dataset of client.datasets.list({ limit: 1 })) names.push(dataset.name)
  assert.deepEqual(names, ['c', 'b', 'a'])
})

test('a query parameter narrows a list', async () => {
  const made = await client.webhooks.create({ name: 'Narrow' })
  await fetch(made.webhook.public_url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"a":1}',
  })
  const { records } = await client.records.list({ dataset: made.webhook.dataset })
  assert.deepEqual(
    records.map((record) => record.data),
    [{ a: 1 }],
  )
})

test('with a project, project routes use it and workspace routes stay the same', async () => {
  const { project } = await client.projects.create({ name: 'Other' })
  const other = createClient({ baseUrl: world.baseUrl, token: world.installed.api_key, project: project.id })
  await other.webhooks.create({ name: 'Elsewhere' })
  assert.deepEqual(
    (await other.webhooks.list()).webhooks.map((webhook) => webhook.name),
    ['Elsewhere'],
  )
  assert.equal((await other.me.get()).workspace.slug, world.installed.workspace.slug)
})

test('a refusal is thrown with its status, reason, sentence and request id', async () => {
  const nobody = createClient({ baseUrl: world.baseUrl, token: 'hk_nobody' })
  await assert.rejects(nobody.me.get(), isRefusal({ status: 401, reason: 'unauthorized' }))
  await assert.rejects(client.projects.create({ name: '' }), (error) => {
    assert.ok(error instanceof ServiceError)
    assert.match(error.message, /^name: /)
    assert.match(error.requestId ?? '', /^req_/)
    return true
  })
})

test('every request carries the version of the contract and the token', async () => {
  using script = await aScript(EMPTY)
  await script.client.deliveries.list({ state: 'failed', limit: 5 })
  const [request] = script.asked
  assert.equal(request?.headers['service-version'], SERVICE_VERSION)
  assert.equal(request?.headers.authorization, 'Bearer hk_x')
  assert.equal(request?.url, '/admin/api/deliveries?state=failed&limit=5')
})

test('a GET is sent again after a short Retry-After', async () => {
  using script = await aScript(
    { status: 429, headers: { 'Retry-After': '0' }, body: '{}' },
    { status: 503, headers: { 'Retry-After': '0' }, body: '{}' },
    EMPTY,
  )
  assert.deepEqual((await script.client.deliveries.list()).deliveries, [])
  assert.equal(script.asked.length, 3)
})

test('the client gives up after two more tries, and waits neither long nor without a Retry-After', async () => {
  using patient = await aScript({
    status: 503,
    headers: { 'Retry-After': '0' },
    body: '{"error":"Busy.","reason":"overloaded"}',
  })
  await assert.rejects(
    patient.client.deliveries.list(),
    isRefusal({ status: 503, reason: 'overloaded', message: 'Busy.', retryAfter: 0 }),
  )
  assert.equal(patient.asked.length, 3)
  using long = await aScript({ status: 429, headers: { 'Retry-After': '3600' }, body: '{}' })
  await assert.rejects(long.client.deliveries.list(), isRefusal({ status: 429, retryAfter: 3600 }))
  assert.equal(long.asked.length, 1)
  using silent = await aScript({ status: 503, body: '{}' })
  await assert.rejects(silent.client.deliveries.list(), isRefusal({ status: 503, retryAfter: undefined }))
  assert.equal(silent.asked.length, 1)
})

test('only a GET is ever sent twice', async () => {
  using script = await aScript({ status: 503, headers: { 'Retry-After': '0' }, body: '{}' })
  await assert.rejects(script.client.projects.create({ name: 'Once' }), isRefusal({ status: 503 }))
  assert.equal(script.asked.length, 1)
})

test('an address without a server, or with another server, is reported in a sentence', async () => {
  const nobody = createClient({ baseUrl: 'http://127.0.0.1:1', token: 'hk_x' })
  await assert.rejects(
    nobody.me.get(),
    isRefusal({
      status: 0,
      reason: 'unreachable',
      message:
        'http://127.0.0.1:1 cannot be reached. Check that the server is running and that the address is correct.',
    }),
  )
  using page = await aScript({ status: 200, body: '<!doctype html>' })
  await assert.rejects(
    page.client.me.get(),
    (error) => error instanceof ServiceError && /did not answer with JSON/.test(error.message),
  )
  using proxy = await aScript({ status: 502, body: '<h1>Bad gateway</h1>' })
  await assert.rejects(
    proxy.client.me.get(),
    isRefusal({ status: 502, message: 'The server answered 502 without a reason.' }),
  )
})

test('an aborted call throws the reason of the caller', async () => {
  using script = await aScript({ status: 503, headers: { 'Retry-After': '9' }, body: '{}' })
  const reason = new Error('enough')
  await assert.rejects(script.client.deliveries.list({}, { signal: AbortSignal.abort(reason) }), reason)
  const later = new AbortController()
  const call = script.client.deliveries.list({}, { signal: later.signal })
  while (script.asked.length === 0) await new Promise((resolve) => setImmediate(resolve))
  later.abort(reason)
  await assert.rejects(call, reason)
})

test('a missing path member is a mistake of the caller', async () => {
  await assert.rejects(client.destinations.get({ id: '' }), /"id" is missing/)
})
