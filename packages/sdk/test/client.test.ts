import assert from 'node:assert/strict'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, test } from 'node:test'
import { routes, SERVICE_VERSION } from '@postroad/contract'
import { aSink, aWorld, type Sink, type World } from '../../server/test/stage/harness.ts'
import {
  ConflictError,
  ForbiddenError,
  NotFoundError,
  Postroad,
  RateLimitedError,
  ServiceError,
  UnauthorizedError,
  UnreachableError,
} from '../src/index.ts'

let world: World
let sink: Sink
let client: Postroad

before(async () => {
  world = await aWorld({ loops: 'all' })
  sink = await aSink()
  client = new Postroad({ url: `${world.baseUrl}/`, token: world.installed.api_key })
})
after(async () => {
  await world.stop()
  await sink.stop()
})

type Reply = { readonly status: number; readonly headers?: Record<string, string>; readonly body: string }

/** A server that sends these responses in order, then repeats the last one, and records its requests. */
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
  return {
    asked,
    client: new Postroad({ url: baseUrl, token: 'hk_x', ingestKey: 'ik_live_x' }),
    [Symbol.dispose]: () => server.close().closeAllConnections(),
  }
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

test('the client creates, reads, changes and deletes a resource with the members of its route', async () => {
  const made = await client.destinations.create({ name: 'first', url: sink.url, datasets: ['events'] })
  assert.match(made.signing_secret, /^whsec_/)
  const { id } = made.destination
  const changed = await client.destinations.update({ id, name: 'second' })
  assert.equal(changed.destination.name, 'second')
  assert.deepEqual((await client.destinations.get({ id })).destination, changed.destination)
  const { deletion } = await client.destinations.remove({ id })
  await assert.rejects(client.destinations.get({ id }), isRefusal({ status: 404, reason: 'not_found' }))
  await client.deletions.restore({ id: deletion.id })
  assert.equal((await client.destinations.get({ id })).destination.name, 'second')
})

test('a repeat with an idempotency key gets the first response again', async () => {
  const make = () => client.rules.create({ name: 'once', dataset: 'd' }, { idempotencyKey: 'sdk-1' })
  assert.deepEqual(await make(), await make())
  await assert.rejects(
    client.rules.create({ name: 'once', dataset: 'd' }),
    isRefusal({ status: 409, reason: 'name_taken' }),
  )
})

test('a program awaits a list for one page, and iterates it for all pages', async () => {
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
  const other = new Postroad({ url: world.baseUrl, token: world.installed.api_key, project: project.id })
  await other.webhooks.create({ name: 'Elsewhere' })
  assert.deepEqual(
    (await other.webhooks.list()).webhooks.map((webhook) => webhook.name),
    ['Elsewhere'],
  )
  assert.equal((await other.me.get()).workspace.slug, world.installed.workspace.slug)
})

test('the client throws a refusal with its status, reason, sentence and request id', async () => {
  const nobody = new Postroad({ url: world.baseUrl, token: 'hk_nobody' })
  await assert.rejects(nobody.me.get(), isRefusal({ status: 401, reason: 'unauthorized' }))
  await assert.rejects(client.projects.create({ name: '' }), (error) => {
    assert.ok(error instanceof ServiceError)
    assert.match(error.message, /^name:? /)
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

const NOW = { 'Retry-After': '0' }
const BUSY = { status: 503, headers: NOW, body: '{"error":"Busy.","reason":"overloaded"}' }

test('the client sends a request again after a short Retry-After', async () => {
  using script = await aScript({ status: 429, headers: NOW, body: '{}' }, BUSY, EMPTY)
  assert.deepEqual((await script.client.deliveries.list()).deliveries, [])
  assert.equal(script.asked.length, 3)
})

test('the client sends a request again after 5xx without a Retry-After', async () => {
  using script = await aScript({ status: 502, body: '<h1>Bad gateway</h1>' }, EMPTY)
  assert.deepEqual((await script.client.deliveries.list()).deliveries, [])
  assert.equal(script.asked.length, 2)
})

test('the client gives up after two more attempts, and does not wait for a long Retry-After', async () => {
  using patient = await aScript(BUSY)
  await assert.rejects(
    patient.client.deliveries.list(),
    isRefusal({ status: 503, reason: 'overloaded', message: 'Busy.', retryAfter: 0 }),
  )
  assert.equal(patient.asked.length, 3)
  using long = await aScript({ status: 429, headers: { 'Retry-After': '3600' }, body: '{}' })
  await assert.rejects(long.client.deliveries.list(), isRefusal({ status: 429, retryAfter: 3600 }))
  assert.equal(long.asked.length, 1)
  using once = await aScript(BUSY)
  await assert.rejects(once.client.deliveries.list({}, { maxRetries: 0 }), isRefusal({ status: 503 }))
  assert.equal(once.asked.length, 1)
})

const keysOf = (asked: readonly IncomingMessage[]): readonly unknown[] =>
  asked.map(({ headers }) => headers['idempotency-key'])

test('the client sends a POST again with the same Idempotency-Key, and each call has a different key', async () => {
  using script = await aScript(BUSY, BUSY, { status: 201, body: '{"project":{}}' })
  await script.client.projects.create({ name: 'Once' })
  const [first, ...others] = keysOf(script.asked)
  assert.match(String(first), /^sdk_[0-9a-f]{32}$/)
  assert.deepEqual(others, [first, first])
  await script.client.projects.create({ name: 'Once' })
  assert.notEqual(keysOf(script.asked)[3], first)
  await script.client.projects.create({ name: 'Once' }, { idempotencyKey: 'mine' })
  assert.equal(keysOf(script.asked)[4], 'mine')
})

test('the client repeats a POST that takes no key only after 429', async () => {
  using busy = await aScript(BUSY)
  await assert.rejects(busy.client.apiKeys.create({ name: 'x', role: 'viewer' }), isRefusal({ status: 503 }))
  assert.deepEqual(keysOf(busy.asked), [undefined])
  using limited = await aScript({ status: 429, headers: NOW, body: '{}' }, { status: 201, body: '{"key":"hk_y"}' })
  assert.equal((await limited.client.apiKeys.create({ name: 'x', role: 'viewer' })).key, 'hk_y')
  assert.deepEqual(keysOf(limited.asked), [undefined, undefined])
})

const LOST = { status: 502, body: '' }
const GONE = { status: 404, body: '{"error":"There is nothing here.","reason":"not_found"}' }

test('a deletion whose response was lost succeeds when its repetition finds nothing', async () => {
  using keys = await aScript(LOST, GONE)
  assert.deepEqual(await keys.client.apiKeys.remove({ id: 'key_1' }), { ok: true })
  const deletion = { id: 'del_1', restorable_until: '2026-01-01T00:00:00.000Z' }
  const listed = (resource_id: string) => ({
    status: 200,
    body: JSON.stringify({ deletions: [{ ...deletion, resource_id }], next_cursor: null }),
  })
  using rules = await aScript(LOST, GONE, listed('rul_1'))
  assert.deepEqual(await rules.client.rules.remove({ id: 'rul_1' }), { ok: true, deletion })
  using other = await aScript(LOST, GONE, listed('rul_2'))
  await assert.rejects(other.client.rules.remove({ id: 'rul_1' }), isRefusal({ status: 404 }))
})

test('a deletion of something that does not exist is refused', async () => {
  using first = await aScript(GONE)
  await assert.rejects(first.client.apiKeys.remove({ id: 'key_1' }), (error) => error instanceof NotFoundError)
  using limited = await aScript({ status: 429, headers: NOW, body: '{}' }, GONE)
  await assert.rejects(limited.client.apiKeys.remove({ id: 'key_1' }), (error) => error instanceof NotFoundError)
})

test('the client sends a POST that only reads without a key, and repeats it', async () => {
  using script = await aScript(BUSY, { status: 200, body: '{}' })
  await script.client.config.plan({ config: { version: 1, project: null, endpoints: [], rules: [] } })
  assert.deepEqual(keysOf(script.asked), [undefined, undefined])
})

test('the client sends a POST once without a key when the keys of the workspace are used up', async () => {
  const exhausted = { status: 429, headers: { 'Retry-After': '3600' }, body: '{"reason":"idempotency_keys_exhausted"}' }
  using script = await aScript(exhausted, BUSY)
  await assert.rejects(script.client.projects.create({ name: 'Once' }), isRefusal({ status: 503 }))
  const [first, second] = keysOf(script.asked)
  assert.notEqual(first, undefined)
  assert.equal(second, undefined)
  assert.equal(script.asked.length, 2)
  using asked = await aScript(exhausted)
  await assert.rejects(
    asked.client.projects.create({ name: 'Once' }, { idempotencyKey: 'mine' }),
    isRefusal({ reason: 'idempotency_keys_exhausted' }),
  )
  assert.equal(asked.asked.length, 1)
})

test('the client ends and repeats an attempt that takes too long', async () => {
  // A busy machine can need the 20 ms before a request leaves, so the attempts are counted here.
  let attempts = 0
  const silent: typeof fetch = async (_input, init) => {
    attempts += 1
    const ended = Promise.withResolvers<never>()
    init?.signal?.addEventListener('abort', () => ended.reject(init.signal?.reason))
    return ended.promise
  }
  const waiting = new Postroad({ url: 'http://127.0.0.1', token: 'hk_x', fetch: silent })
  await assert.rejects(waiting.me.get({}, { timeoutMs: 20, maxRetries: 1 }), (error) => {
    assert.ok(error instanceof UnreachableError)
    assert.match(error.message, /did not respond within 0\.02 seconds/)
    return true
  })
  assert.equal(attempts, 2)
})

test('each refusal that programs treat differently has a class', async () => {
  const classes = {
    400: ServiceError,
    401: UnauthorizedError,
    403: ForbiddenError,
    404: NotFoundError,
    409: ConflictError,
    429: RateLimitedError,
  }
  for (const [status, Class] of Object.entries(classes)) {
    using script = await aScript({ status: Number(status), body: '{"error":"No."}' })
    await assert.rejects(script.client.me.get({}, { maxRetries: 0 }), (error) => {
      assert.ok(error instanceof Class && error instanceof ServiceError)
      assert.equal(error.constructor, Class)
      assert.equal(error.name, Class.name)
      return true
    })
  }
})

test('an invalid address is a mistake of the caller', () => {
  for (const url of ['', 'hooks.example.com', 'ftp://hooks.example.com'])
    assert.throws(() => new Postroad({ url }), { name: 'TypeError', message: /is not the address of a server/ })
})

test('the client reports an address without a server, or with another server, in a sentence', async () => {
  const nobody = new Postroad({ url: 'http://127.0.0.1:1', token: 'hk_x' })
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
    (error) => error instanceof ServiceError && /did not respond with JSON/.test(error.message),
  )
  using proxy = await aScript({ status: 502, body: '<h1>Bad gateway</h1>' })
  await assert.rejects(
    proxy.client.me.get({}, { maxRetries: 0 }),
    isRefusal({ status: 502, message: 'The server returned 502 without a reason.' }),
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
