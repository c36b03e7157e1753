import assert from 'node:assert/strict'
import { createHash, createHmac } from 'node:crypto'
import { createServer, request as requestHttp, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { test, type TestContext } from 'node:test'
import { gzipSync } from 'node:zlib'
import { sign as signAsGithub, verify as verifyAsGithub } from '@octokit/webhooks-methods'
import { ApiVersion, LogSeverity, shopifyApi } from '@shopify/shopify-api'
import { isValidSlackRequest } from '@slack/bolt'
import { Stripe } from 'stripe'
import { Webhook as SvixWebhook } from 'svix'
import twilio from 'twilio'
import { verifyDelivery } from '../../src/domain/signature/index.ts'
import { aDataKey } from '../stage/data-client.ts'
import { aDestination, anIngestKey, aRule, aWebhook, post } from '../stage/fixtures.ts'
import type { Answer, World } from '../stage/harness.ts'
import { onWorldStage } from '../stage/world-stage.ts'

/**
 * Destinations with the bodies `data` and `as_received`. The libraries of providers verify a delivery as they would verify
 * the request of the provider, so they read the clock of this machine, and the clock of the test is set to it.
 */
let world: World

const NOW = Math.floor(Date.now() / 1_000) * 1_000

onWorldStage(
  (made) => {
    ;({ world } = made)
  },
  { now: NOW, loops: [] },
)

type Got = {
  readonly path: string
  readonly method: string
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
}

type Behind = {
  readonly url: string
  readonly got: Got[]
  readonly endpoint: string
  readonly destination: Answer['body']
  readonly secret: string
  status: number
}

/** An application behind Postroad: an endpoint whose events go to one receiver. */
async function behind(t: TestContext, settings: object = {}, webhook: object = {}): Promise<Behind> {
  const got: Got[] = []
  const state = { status: 200 }
  const server = createServer((request, response) => {
    void buffer(request).then((body) => {
      got.push({ path: request.url ?? '', method: request.method ?? '', headers: request.headers, body })
      response.writeHead(state.status).end()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.close()
    server.closeAllConnections()
  })
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a TCP server has an address of this shape
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/app`
  count += 1
  const dataset = `behind_${count}`
  const { public_url: endpoint } = await aWebhook(world, { dataset, ...webhook })
  const { destination, secret } = await aDestination(world, {
    url,
    datasets: [dataset],
    body: 'as_received',
    retry: { schedule_seconds: [0, 1, 1] },
    ...settings,
  })
  return Object.assign(state, { url, got, endpoint, destination, secret })
}
let count = 0

const newest = ({ got }: Behind): Got => got.at(-1) ?? assert.fail('nothing arrived')

/** Sends a request through Postroad, and returns it as it arrived. */
async function through(
  app: Behind,
  body: string | Uint8Array<ArrayBuffer>,
  {
    headers = {},
    type = 'application/json',
    query = '',
  }: { headers?: Record<string, string>; type?: string | null; query?: string } = {},
): Promise<Got & { readonly record: string }> {
  const answer = await post(app.endpoint + query, body, { headers, type })
  assert.equal(answer.status, 201, JSON.stringify(answer.body))
  await world.idle()
  return { ...newest(app), record: answer.body.records[0].id }
}

async function deliveryOf(record: string): Promise<Answer['body']> {
  const { deliveries } = (await world.admin('GET', `deliveries?record_id=${record}`)).body
  return (await world.admin('GET', `deliveries/${deliveries[0].id}`)).body.delivery
}

function assertOurs({ headers, body }: Got, { secret }: Behind): void {
  const nowSeconds = Math.floor(world.clock.wall() / 1_000)
  const singly = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]))
  assert.equal(verifyDelivery({ secrets: [secret], headers: singly, body, nowSeconds }), undefined)
}

const text = (headers: IncomingHttpHeaders, name: string): string => String(headers[name] ?? '')

test('stripe verifies a forwarded event unchanged', async (t) => {
  const app = await behind(t)
  const stripe = new Stripe('sk_test_none')
  const secret = 'whsec_of_the_payments_provider'
  const payload = JSON.stringify({ id: 'evt_1', object: 'event', data: { object: { amount: 12 } } }, null, 2)
  const signature = stripe.webhooks.generateTestHeaderString({ payload, secret, timestamp: NOW / 1_000 })
  const got = await through(app, payload, { headers: { 'stripe-signature': signature } })
  const event = stripe.webhooks.constructEvent(got.body, text(got.headers, 'stripe-signature'), secret)
  assert.equal(event.id, 'evt_1')
  assertOurs(got, app)
})

test('@octokit/webhooks-methods verifies a forwarded event unchanged', async (t) => {
  const app = await behind(t)
  const body = '{"zen": "Ünïcode",\n "n":12345678901234567890}'
  const signature = await signAsGithub('hush', body)
  const got = await through(app, body, { headers: { 'x-hub-signature-256': signature, 'x-github-event': 'ping' } })
  assert.ok(await verifyAsGithub('hush', got.body.toString(), text(got.headers, 'x-hub-signature-256')))
  assert.equal(got.headers['x-github-event'], 'ping')
  assertOurs(got, app)
})

for (const prefix of ['svix', 'webhook']) {
  test(`svix verifies a forwarded event unchanged, with the headers ${prefix}-*`, async (t) => {
    const app = await behind(t)
    const library = new SvixWebhook(`whsec_${Buffer.from('a secret of the sender').toString('base64')}`)
    const body = '{"type":"user.created"}'
    const signature = library.sign('msg_1', new Date(NOW), body)
    const got = await through(app, body, {
      headers: {
        [`${prefix}-id`]: 'msg_1',
        [`${prefix}-timestamp`]: String(NOW / 1_000),
        [`${prefix}-signature`]: signature,
      },
    })
    const headers = Object.fromEntries(Object.entries(got.headers).map(([name, value]) => [name, String(value)]))
    assert.doesNotThrow(() => library.verify(got.body, headers))
    assert.throws(() => library.verify('{}', headers))
    assertOurs(got, app)
    assert.match(text(got.headers, 'service-signature'), /^t=\d+,v1=/)
    if (prefix === 'webhook') assert.equal(got.headers['webhook-id'], 'msg_1')
    else assert.equal(got.headers['webhook-id'], got.record)
  })
}

test('@shopify/shopify-api verifies a forwarded event unchanged', async (t) => {
  await import('@shopify/shopify-api/adapters/node')
  const app = await behind(t)
  const apiSecretKey = 'the client secret of the app'
  const shopify = shopifyApi({
    apiKey: 'key',
    apiSecretKey,
    apiVersion: ApiVersion.July26,
    hostName: 'app.example.com',
    isEmbeddedApp: true,
    logger: { level: LogSeverity.Error },
  })
  const body = '{"id":820982911946154508,"total_price":"403.00"}'
  const got = await through(app, body, {
    headers: {
      'x-shopify-hmac-sha256': createHmac('sha256', apiSecretKey).update(body).digest('base64'),
      'x-shopify-topic': 'orders/create',
      'x-shopify-shop-domain': 'shop.myshopify.com',
      'x-shopify-api-version': '2026-07',
      'x-shopify-webhook-id': 'b54557e4',
    },
  })
  const validated = (rawBody: string) =>
    shopify.webhooks.validate({ rawBody, rawRequest: { headers: got.headers, method: 'POST', url: got.path } })
  const result = await validated(got.body.toString())
  assert.ok(result.valid, JSON.stringify(result))
  assert.equal((await validated('{}')).valid, false)
})

test('@slack/bolt verifies a forwarded event unchanged', async (t) => {
  const app = await behind(t)
  const signingSecret = 'the signing secret of the app'
  const body = 'token=xyz&command=%2Fweather&text=94070+%F0%9F%98%80'
  const time = String(NOW / 1_000)
  const digest = createHmac('sha256', signingSecret).update(`v0:${time}:${body}`).digest('hex')
  const got = await through(app, body, {
    type: 'application/x-www-form-urlencoded',
    headers: { 'x-slack-signature': `v0=${digest}`, 'x-slack-request-timestamp': time },
  })
  const isValid = (text_: string): boolean =>
    isValidSlackRequest({
      signingSecret,
      body: text_,
      headers: {
        'x-slack-signature': text(got.headers, 'x-slack-signature'),
        'x-slack-request-timestamp': Number(got.headers['x-slack-request-timestamp']),
      },
    })
  assert.ok(isValid(got.body.toString()))
  assert.ok(!isValid('command=other'))
})

test('twilio verifies a forwarded event unchanged: a form, and JSON by the digest in the query string', async (t) => {
  const app = await behind(t)
  const token = 'the auth token of the account'
  const type = 'application/x-www-form-urlencoded; charset=UTF-8'
  const form = 'Body=Gr%C3%BC%C3%9Fe+%F0%9F%98%80&From=%2B4915&NumMedia=0'
  const params = Object.fromEntries(new URLSearchParams(form))
  const signature = twilio.getExpectedTwilioSignature(token, `${app.endpoint}?tenant=acme`, params)
  const first = await through(app, form, { type, query: '?tenant=acme', headers: { 'x-twilio-signature': signature } })
  // The library is configured with the URL that the provider calls.
  const called = ({ path }: Got): string => app.endpoint + path.slice('/app'.length)
  const received = Object.fromEntries(new URLSearchParams(first.body.toString()))
  assert.ok(twilio.validateRequest(token, text(first.headers, 'x-twilio-signature'), called(first), received))
  assert.ok(!twilio.validateRequest(token, text(first.headers, 'x-twilio-signature'), app.endpoint, received))
  const json = '{"Sid":"SM1"}'
  const query = `?bodySHA256=${createHash('sha256').update(json).digest('hex')}`
  const of = twilio.getExpectedTwilioSignature(token, app.endpoint + query, {})
  const second = await through(app, json, { query, headers: { 'x-twilio-signature': of } })
  const proof = text(second.headers, 'x-twilio-signature')
  assert.ok(twilio.validateRequestWithBody(token, proof, called(second), second.body.toString()))
  assert.ok(!twilio.validateRequestWithBody(token, proof, called(second), '{}'))
})

test('the query string arrives with the characters that the sender wrote, after that of the destination', async (t) => {
  const app = await behind(t)
  assert.equal(
    (await world.admin('PATCH', `destinations/${app.destination.id}`, { url: `${app.url}?own=1` })).status,
    200,
  )
  const path = `${new URL(app.endpoint).pathname}?q=it's"<>|\\^&&%zz&e=`
  const status = await new Promise((resolve, reject) => {
    const sent = requestHttp(app.endpoint, { path, method: 'POST', headers: { 'content-type': 'application/json' } })
    sent.on('response', (response) => resolve(response.resume().statusCode)).on('error', reject)
    sent.end('{}')
  })
  assert.equal(status, 201)
  await world.idle()
  assert.equal(newest(app).path, `/app?own=1&q=it's"<>|\\^&&%zz&e=`)
})

test('the signature of the sender stays also where the destination sends only ours of Standard Webhooks', async (t) => {
  const app = await behind(t, { signing: { header: 'standard' } })
  const plain = await through(app, '{}')
  assert.equal(plain.headers['webhook-id'], plain.record)
  assert.equal(plain.headers['service-signature'], undefined)
  const theirs = await through(app, '{}', { headers: { 'webhook-signature': 'v1,theirs' } })
  assert.equal(theirs.headers['webhook-signature'], 'v1,theirs')
  assertOurs(theirs, app)
})

test('a form arrives byte for byte, with its content type and query string, once for each attempt and replay', async (t) => {
  const app = await behind(t)
  app.status = 500
  const body = 'Body=Gr%C3%BC%C3%9Fe+%F0%9F%98%80&From=%2B4915&MediaUrl=&&x'
  const type = 'application/x-www-form-urlencoded; charset=utf-8'
  const first = await through(app, body, { type, query: "?bodySHA256=ab&q=it's&tag=b&tag=a&token=hush&%41=%2f" })
  assert.deepEqual([first.method, first.path], ['POST', '/app?bodySHA256=ab&q=it%27s&tag=b&tag=a&%41=%2f'])
  world.clock.advance(2_000)
  await world.idle()
  app.status = 200
  world.clock.advance(2_000)
  await world.idle()
  const { id, state } = await deliveryOf(first.record)
  assert.equal(state, 'delivered')
  assert.equal((await world.admin('POST', `deliveries/${id}/replay`)).status, 200)
  await world.idle()
  assert.equal(app.got.length, 4)
  for (const got of app.got) {
    assert.deepEqual([got.body.toString(), got.path, got.headers['content-type']], [body, first.path, type])
    assertOurs(got, app)
  }
})

test('bytes that are not text arrive unchanged, compressed as they were sent, and the attempt proves them', async (t) => {
  const app = await behind(t)
  const bytes = gzipSync('{"n":2}')
  const headers = { 'content-encoding': 'gzip', 'user-agent': 'Sender/1.0', 'x-empty': '' }
  const got = await through(app, bytes, { headers })
  assert.deepEqual(got.body, bytes)
  for (const [name, value] of Object.entries(headers)) assert.equal(got.headers[name], value, name)
  assertOurs(got, app)
  const { attempts } = await deliveryOf(got.record)
  const { request } = attempts[0]
  assert.deepEqual([request.body_form, request.body_reason, request.body_bytes], ['as_received', null, bytes.length])
  assert.equal(request.body_sha256, createHash('sha256').update(bytes).digest('hex'))
  const connection = new Set(['host', 'connection', 'content-length'])
  assert.deepEqual(
    request.headers,
    Object.fromEntries(Object.entries(got.headers).filter(([name]) => !connection.has(name))),
  )
  const { body } = (await world.admin('GET', `attempts/${attempts[0].id}`)).body
  assert.deepEqual(body, { as_sent: true, text: null, base64: bytes.toString('base64'), difference: null })
})

test('a multipart body with a file arrives byte for byte', async (t) => {
  const app = await behind(t)
  const file = Uint8Array.from({ length: 256 }, (_none, at) => at)
  const bytes = Buffer.concat([
    Buffer.from('--X\r\ncontent-disposition: form-data; name="a"; filename="b.bin"\r\n\r\n'),
    file,
    Buffer.from('\r\n--X--\r\n'),
  ])
  const got = await through(app, new Uint8Array(bytes), { type: 'multipart/form-data; boundary=X' })
  assert.deepEqual(got.body, bytes)
  assert.equal(got.headers['content-type'], 'multipart/form-data; boundary=X')
})

test('headers of the connection, of Postroad and with credentials are left out, and those of the destination win', async (t) => {
  const app = await behind(t, { headers: { 'X-Tenant': 'ours' }, auth: { kind: 'bearer', token: 'ours-too' } })
  const got = await through(app, '{}', {
    headers: {
      authorization: 'Bearer theirs',
      'x-gitlab-token': 'theirs',
      'x-tenant': 'theirs',
      'x-topic': 'kept',
      'accept-encoding': 'gzip',
      'service-event-id': 'rec_theirs',
      'service-made-up': 'theirs',
      'proxy-authorization': 'Basic dGhlaXJz',
    },
  })
  const { headers } = got
  assert.deepEqual(
    [headers['x-tenant'], headers.authorization, headers['x-topic']],
    ['ours', 'Bearer ours-too', 'kept'],
  )
  for (const name of ['x-gitlab-token', 'service-made-up', 'proxy-authorization', 'accept-encoding'])
    assert.equal(headers[name], undefined, name)
  assert.deepEqual([headers['service-event-id'], headers['service-attempt']], [got.record, '1'])
  assert.equal(headers.host, new URL(app.url).host)
})

test('a request without a content type has none behind Postroad either', async (t) => {
  const app = await behind(t)
  const got = await through(app, new TextEncoder().encode('{"n":1}'), { type: null })
  assert.equal(got.headers['content-type'], undefined)
  assert.equal(got.body.toString(), '{"n":1}')
})

test('a record that a mapping made is sent as data, and the attempt says so; one that it did not change is as received', async (t) => {
  const app = await behind(t, {}, { mappings: [{ target: 'id', path: 'n' }] })
  const got = await through(app, '{"n":12345678901234567890,"secret":"stays"}', {
    query: '?a=1',
    headers: { 'x-topic': 'a' },
  })
  assert.equal(got.body.toString(), '{"id":12345678901234567890}')
  assert.deepEqual(
    [got.path, got.headers['x-topic'], got.headers['content-type']],
    ['/app', undefined, 'application/json'],
  )
  assertOurs(got, app)
  const { attempts } = await deliveryOf(got.record)
  assert.deepEqual([attempts[0].request.body_form, attempts[0].request.body_reason], ['data', 'mapped'])
  const { body } = (await world.admin('GET', `attempts/${attempts[0].id}`)).body
  assert.deepEqual([body.as_sent, body.text], [true, '{"id":12345678901234567890}'])
  const { key } = await anIngestKey(world)
  const dataset = app.destination.datasets[0]
  await aRule(world, { dataset, conditions: [{ path: 'whole', equals: '1' }] })
  const form = await post(`${world.baseUrl}/v1/ingest/${key}`, 'whole=1', { type: 'application/x-www-form-urlencoded' })
  assert.equal(form.body.records.length, 1)
  await world.idle()
  assert.equal(newest(app).body.toString(), 'whole=1')
})

test('the body data is the payload byte for byte, and named headers of the request go along', async (t) => {
  const app = await behind(t, {
    body: 'data',
    forward_headers: ['X-GitHub-Event', 'x-absent', 'X-Tenant'],
    headers: { 'x-tenant': 'ours' },
  })
  const sent = '{"b": 1.50,\r\n"n":12345678901234567890}'
  const got = await through(app, sent, {
    headers: { 'x-github-event': 'push', 'x-tenant': 'theirs', 'x-other': 'no' },
    query: '?a=1',
  })
  assert.equal(got.body.toString(), sent)
  const { headers } = got
  assert.deepEqual(
    [
      headers['x-github-event'],
      headers['x-absent'],
      headers['x-tenant'],
      headers['x-other'],
      headers['content-type'],
      got.path,
    ],
    ['push', undefined, 'ours', undefined, 'application/json', '/app'],
  )
  assertOurs(got, app)
  const { attempts } = await deliveryOf(got.record)
  assert.deepEqual([attempts[0].request.body_form, attempts[0].request.headers['x-github-event']], ['data', 'push'])
  const { body } = (await world.admin('GET', `attempts/${attempts[0].id}`)).body
  assert.deepEqual(body, { as_sent: true, text: sent, base64: null, difference: null })
})

test('the body thin has no payload, and a Data API key reads the record at its url', async (t) => {
  const app = await behind(t, { body: 'thin', forward_headers: ['X-GitHub-Event'] })
  const { key } = await aDataKey(world)
  // A large payload does not come with its delivery, and is not read for it either.
  for (const sent of ['{"secret":"s3cr3t"}', JSON.stringify({ secret: 's3cr3t'.repeat(100_000) })]) {
    const got = await through(app, sent, { headers: { 'x-github-event': 'push' } })
    assertOurs(got, app)
    const { url, ...rest } = JSON.parse(got.body.toString())
    const [, dataset] = /\/v1\/data\/(\w+)\/rec_/.exec(url) ?? []
    assert.deepEqual(
      [Object.keys(rest), rest.id, rest.dataset],
      [['id', 'dataset', 'received_at'], got.record, dataset],
    )
    assert.equal(got.headers['x-github-event'], 'push')
    const read = await fetch(url, { headers: { authorization: `Bearer ${key}` } })
    const { record } = JSON.parse(await read.text())
    assert.deepEqual([record.id, record.received_at, record.data], [rest.id, rest.received_at, JSON.parse(sent)])
    assert.equal((await fetch(url)).status, 401)

    const { attempts } = await deliveryOf(got.record)
    assert.equal(attempts[0].request.body_form, 'thin')
    const { body } = (await world.admin('GET', `attempts/${attempts[0].id}`)).body
    assert.deepEqual(body, { as_sent: true, text: got.body.toString(), base64: null, difference: null })
    const asked = { record_id: got.record, destination_id: app.destination.id }
    const { request } = (await world.admin('POST', 'destinations/preview', asked)).body
    assert.deepEqual([request.body, request.body_form], [got.body.toString(), 'thin'])
  }
})

test('an envelope can carry headers of the request', async (t) => {
  const app = await behind(t, { body: 'envelope', forward_headers: ['X-GitHub-Event'] })
  const got = await through(app, '{"n":1}', { headers: { 'x-github-event': 'push' } })
  assert.deepEqual([JSON.parse(got.body.toString()).data, got.headers['x-github-event']], [{ n: 1 }, 'push'])
})

test('the preview and the test of a destination have the bytes, query string and headers that a delivery has', async (t) => {
  const app = await behind(t)
  const type = 'application/x-www-form-urlencoded'
  const got = await through(app, 'a=1&b=2', { type, query: '?q=1', headers: { 'x-topic': 'kept' } })
  const preview = async (members: object): Promise<Answer['body']> =>
    (await world.admin('POST', 'destinations/preview', { record_id: got.record, ...members })).body.request
  const shown = await preview({ destination_id: app.destination.id })
  assert.deepEqual(
    [shown.body, shown.body_base64, shown.body_form, shown.url],
    ['a=1&b=2', null, 'as_received', `${app.url}?q=1`],
  )
  assert.deepEqual([shown.headers['x-topic'], shown.headers['content-type']], ['kept', type])
  assert.equal((await preview({ url: app.url, body: 'data' })).body, '{"a":"1","b":"2"}')
  const bytes = gzipSync('{}')
  const packed = await through(app, bytes, { headers: { 'content-encoding': 'gzip' } })
  const answer = await world.admin('POST', 'destinations/preview', {
    record_id: packed.record,
    destination_id: app.destination.id,
  })
  assert.deepEqual([answer.body.request.body, answer.body.request.body_base64], ['', bytes.toString('base64')])
  const tested = await world.admin('POST', `destinations/${app.destination.id}/test`, { record_id: got.record })
  assert.equal(tested.body.attempt.outcome, 'succeeded')
  assert.deepEqual(
    [newest(app).body.toString(), newest(app).path, newest(app).headers['x-topic']],
    ['a=1&b=2', '/app?q=1', 'kept'],
  )
  await world.admin('POST', `destinations/${app.destination.id}/test`)
  assert.equal(JSON.parse(newest(app).body.toString()).test, true)
})

test('a sink of this server verifies bytes that are not text', async () => {
  const { public_url } = await aWebhook(world, { dataset: 'to_sink' })
  const { destination } = (await world.admin('POST', 'destination-sinks', { name: 'bytes', datasets: ['to_sink'] }))
    .body
  assert.equal((await world.admin('PATCH', `destinations/${destination.id}`, { body: 'as_received' })).status, 200)
  const answer = await post(public_url, gzipSync('{"n":2}'), { headers: { 'content-encoding': 'gzip' } })
  await world.idle()
  assert.equal((await deliveryOf(answer.body.records[0].id)).state, 'delivered')
})

test('settings of the body that have no effect are refused with one sentence', async () => {
  const url = 'https://example.com/'
  const refused = async (members: object): Promise<string> => {
    const { status, body } = await world.admin('POST', 'destinations', { name: 'refused', url, ...members })
    assert.equal(status, 400, JSON.stringify(body))
    return body.error
  }
  const redis = { url: 'redis://example.com:6379', config: { kind: 'redis_stream', stream: 'events' } }
  assert.match(await refused({ ...redis, body: 'as_received' }), /^body: as_received is for HTTP destinations/)
  assert.match(await refused({ ...redis, forward_headers: ['X-A'] }), /^forward_headers: .* has no headers/)
  assert.match(await refused({ body: 'data', payload_template: { a: 1 } }), /exclude each other/)
  assert.match(await refused({ body: 'as_received', forward_headers: ['X-A'] }), /sends every header/)
  assert.match(await refused({ forward_headers: ['Authorization'] }), /does not store the value of Authorization/)
  assert.match(await refused({ forward_headers: ['webhook-id'] }), /is set by Postroad/)
  await refused({ forward_headers: Array.from({ length: 21 }, (_none, at) => `X-${at}`) })
  await refused({ body: 'raw' })
  const { destination } = await aDestination(world, { url })
  assert.deepEqual([destination.body, destination.forward_headers], ['envelope', []])
  const changed = await world.admin('PATCH', `destinations/${destination.id}`, { body: 'as_received' })
  assert.equal(changed.body.destination.body, 'as_received')
  assert.equal(
    (await world.admin('PATCH', `destinations/${destination.id}`, { payload_template: { a: 1 } })).status,
    400,
  )
})
