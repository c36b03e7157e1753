import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, test, type TestContext } from 'node:test'
import { decodeId, DEFAULT_SCHEDULE_SECONDS, ERROR_CODES } from '@postroad/contract'
import { NEXT } from '../src/domain/delivery-state.ts'
import { secretPlace } from '../src/domain/secret-place.ts'
import { sql, type Database } from '../src/platform/db.ts'
import { cancelOutstanding } from '../src/resources/deliveries/queries.ts'
import { aDestination, anIngestKey, behind, post, statement } from './fixtures.ts'
import { aSink, aWorld, eventually, type Answer, type Sink, type World } from './harness.ts'

let world: World
let database: Database
let key: string
/** Where connections are refused. */
let closedUrl: string

before(async () => {
  world = await aWorld()
  database = behind(world)
  key = (await anIngestKey(world)).key
  await watchMoves()
  const sink = await aSink()
  closedUrl = sink.url
  await sink.stop()
})
after(async () => {
  await database.close()
  await world.stop()
})

/** Every change of state that the database ever sees in this file. */
async function watchMoves(): Promise<void> {
  await statement(database, 'create table moves (old text, new text, primary key (old, new))')
  // The server works as a role of its own (docs/adr/0026).
  await statement(database, 'grant all on moves to public')
  await statement(
    database,
    `create function note_move() returns trigger language plpgsql as $$
       begin insert into moves values (old.state, new.state) on conflict do nothing; return null; end $$`,
  )
  await statement(
    database,
    `create trigger note_move after update of state on deliveries
       for each row when (old.state <> new.state) execute function note_move()`,
  )
}

// A destination with a dataset of its own, so that tests share one world

type Delivery = Answer['body']

class Route {
  readonly dataset: string
  readonly destination: Answer['body']
  readonly secret: string
  readonly #world: World

  constructor(at: World, made: { dataset: string; destination: Answer['body']; secret: string }) {
    this.#world = at
    this.dataset = made.dataset
    this.destination = made.destination
    this.secret = made.secret
  }

  /** Sends one event; gives the record's id, which is the event id. */
  async send(body = '{"n":1}', headers: Record<string, string> = {}): Promise<string> {
    const answer = await post(`${this.#world.baseUrl}/v1/ingest/${key}/${this.dataset}`, body, { headers })
    assert.equal(answer.status, 201)
    return answer.body.records[0].id
  }

  async delivery(recordId: string): Promise<Delivery> {
    const { body } = await this.#world.admin('GET', `deliveries?record_id=${recordId}`)
    return (await this.#world.admin('GET', `deliveries/${body.deliveries[0].id}`)).body.delivery
  }

  /** The delivery of a record, once it is in one of these states. */
  in(recordId: string, ...states: string[]): Promise<Delivery> {
    return eventually(async () => {
      const delivery = await this.delivery(recordId)
      return states.includes(delivery.state) ? delivery : undefined
    }, 2_000)
  }

  async patch(members: object): Promise<Answer['body']> {
    const answer = await this.#world.admin('PATCH', `destinations/${this.destination.id}`, members)
    assert.equal(answer.status, 200)
    return answer.body.destination
  }

  async remove(): Promise<void> {
    assert.equal((await this.#world.admin('DELETE', `destinations/${this.destination.id}`)).status, 200)
  }

  replay(delivery: Delivery): Promise<Answer> {
    return this.#world.admin('POST', `deliveries/${delivery.id}/replay`)
  }
}

let datasets = 0

async function aRoute(url: string, members: object = {}, at: World = world): Promise<Route> {
  datasets += 1
  const dataset = `d${datasets}`
  return new Route(at, { dataset, ...(await aDestination(at, { url, datasets: [dataset], ...members })) })
}

async function aTestSink(t: TestContext): Promise<Sink> {
  const sink = await aSink()
  t.after(() => sink.stop())
  return sink
}

type Held = { readonly url: string; readonly held: ServerResponse[]; until(count: number): Promise<void> }

/** A receiver that answers nothing by itself: the test answers what it holds. */
async function aReceiver(t: TestContext, handle: (request: IncomingMessage, response: ServerResponse) => void = () => undefined): Promise<Held> {
  const held: ServerResponse[] = []
  const server = createServer((request, response) => {
    request.resume()
    request.on('end', () => {
      held.push(response)
      handle(request, response)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.close()
    server.closeAllConnections()
  })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    held,
    until: async (count) => {
      await eventually(() => Promise.resolve(held.length >= count ? true : undefined), 2_000)
    },
  }
}

/** Moves the clock to the delivery's next attempt. */
function advanceTo(delivery: Delivery): void {
  world.clock.advance(Date.parse(delivery.next_attempt_at) - world.clock.now())
}

const shortly = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 60))
const secondsUntil = (delivery: Delivery): number => (Date.parse(delivery.next_attempt_at) - world.clock.now()) / 1_000

function assertAbout(seconds: number, expected: number): void {
  assert.ok(seconds >= expected * 0.8 - 0.001 && seconds <= expected * 1.2 + 0.001, `${seconds} s is not ${expected} s ± 20 %`)
}

// What is sent

test('the body is exactly the envelope, its members in order and the payload letter by letter', async (t) => {
  const sink = await aTestSink(t)
  const route = await aRoute(sink.url)
  const text = '{ "z":1, "a": 12345678901234567890, "a":"\\u00e9", "__proto__": {"x": 1} }'
  const receivedAt = new Date(world.clock.now()).toISOString()
  const record = await route.send(text)
  const [received] = await sink.until(1)
  assert.equal(received?.body, `{"id":"${record}","dataset":"${route.dataset}","received_at":"${receivedAt}","data":${text}}`)
})

test('every header says what it should, and each signature verifies', async (t) => {
  const sink = await aTestSink(t)
  const route = await aRoute(sink.url, { headers: { 'X-Team': 'orders', Authorization: 'Bearer mine' } })
  const record = await route.send('{"n":1}', { 'Service-Hops': '2' })
  const [received] = await sink.until(1)
  assert.ok(received)
  const { headers, body } = received
  const attempt = (await route.in(record, 'delivered')).attempts[0]
  const time = String(Math.floor(world.clock.wall() / 1_000))
  const hex = createHmac('sha256', route.secret).update(`${time}.${body}`).digest('hex')
  const standardKey = Buffer.from(route.secret.slice('whsec_'.length), 'base64')
  const standard = createHmac('sha256', standardKey).update(`${record}.${time}.${body}`).digest('base64')
  const { host, connection: _connection, 'content-length': length, ...rest } = headers
  assert.equal(host, new URL(sink.url).host)
  assert.equal(length, String(Buffer.byteLength(body)))
  assert.deepEqual(rest, {
    'content-type': 'application/json',
    'user-agent': 'Postroad/0.1.0',
    'service-event-id': record,
    'service-delivery-id': attempt.id,
    'service-attempt': '1',
    'service-dataset': route.dataset,
    'service-hops': '3',
    'service-signature': `t=${time},v1=${hex}`,
    'webhook-id': record,
    'webhook-timestamp': time,
    'webhook-signature': `v1,${standard}`,
    'x-team': 'orders',
    authorization: 'Bearer mine',
  })
})

test('signing.header chooses which signature is sent', async (t) => {
  const sink = await aTestSink(t)
  const names = ['service-signature', 'webhook-id', 'webhook-signature', 'webhook-timestamp']
  const expected = { service: ['service-signature'], standard: names.slice(1), both: names }
  for (const [header, sent] of Object.entries(expected)) {
    const count = sink.received.length
    const route = await aRoute(sink.url, { signing: { header } })
    await route.send()
    const received = (await sink.until(count + 1))[count]
    assert.deepEqual(names.filter((name) => received?.headers[name] !== undefined), sent)
  }
})

test('while a former secret overlaps, each signature header holds one by either secret', async (t) => {
  const sink = await aTestSink(t)
  const route = await aRoute(sink.url)
  const id = decodeId('destination', route.destination.id) ?? ''
  const former = `whsec_${Buffer.from('the former secret').toString('base64')}`
  const sealed = world.storage.cipher.seal(former, secretPlace('destinations.previous_secret', id))
  const until = new Date(world.clock.now() + 3_600_000)
  await database.run(sql`update destinations set previous_secret = ${sealed}, previous_secret_expires_at = ${until} where id = ${id}`)
  await route.send()
  const [first] = await sink.until(1)
  assert.ok(first)
  const [, time] = /^t=(\d+),v1=[0-9a-f]{64},v1=[0-9a-f]{64}$/.exec(String(first.headers['service-signature'])) ?? []
  const hex = createHmac('sha256', former).update(`${time}.${first.body}`).digest('hex')
  assert.ok(String(first.headers['service-signature']).endsWith(`,v1=${hex}`))
  assert.equal(String(first.headers['webhook-signature']).split(' ').length, 2)
  world.clock.advance(3_600_000)
  await route.send()
  const [, second] = await sink.until(2)
  assert.match(String(second?.headers['service-signature']), /^t=\d+,v1=[0-9a-f]{64}$/)
})

test('headers that Postroad sets, hop-by-hop ones and broken ones are refused when they are saved', async (t) => {
  const sink = await aTestSink(t)
  const reserved = ['Service-Signature', 'service-event-id', 'Webhook-Id', 'webhook-signature', 'Content-Type', 'Content-Encoding', 'Content-Range', 'Content-Transfer-Encoding', 'User-Agent', 'Host']
  const hopByHop = ['Connection', 'Transfer-Encoding', 'Content-Length', 'Upgrade', 'Keep-Alive', 'TE', 'Trailer', 'Expect', 'Proxy-Authorization']
  for (const name of [...reserved, ...hopByHop, 'bad name', 'x:y']) {
    const answer = await world.admin('POST', 'destinations', { name: 'x', url: sink.url, headers: { [name]: 'v' } })
    assert.equal(answer.status, 400, name)
    assert.match(answer.body.error, /^headers: /)
  }
  for (const value of ['a\r\nX-Evil: 1', 'a\0', '\u{1f600}']) {
    assert.equal((await world.admin('POST', 'destinations', { name: 'x', url: sink.url, headers: { 'X-A': value } })).status, 400)
  }
})

test('the body and the event id are the same on every attempt and replay; each attempt has an id of its own', async (t) => {
  const sink = await aTestSink(t)
  sink.answer((_request, index) => ({ status: index === 0 ? 500 : 200 }))
  const route = await aRoute(sink.url)
  const record = await route.send('{"a":[1, 2]}')
  advanceTo(await route.in(record, 'retrying'))
  await route.replay(await route.in(record, 'delivered'))
  const received = await sink.until(3)
  assert.equal(new Set(received.map(({ body }) => body)).size, 1)
  for (const name of ['service-event-id', 'webhook-id']) assert.deepEqual(new Set(received.map(({ headers }) => headers[name])), new Set([record]))
  assert.deepEqual(received.map(({ headers }) => headers['service-attempt']), ['1', '2', '3'])
  const delivery = await eventually(async () => {
    const now = await route.in(record, 'delivered')
    return now.attempt_count === 3 ? now : undefined
  })
  assert.deepEqual(delivery.attempts.map((attempt: Answer['body']) => attempt.id), received.map(({ headers }) => headers['service-delivery-id']))
  assert.deepEqual(delivery.attempts.map((attempt: Answer['body']) => [attempt.number, attempt.trigger, attempt.outcome]), [
    [1, 'initial', 'failed'],
    [2, 'automatic', 'succeeded'],
    [3, 'replay', 'succeeded'],
  ])
})

test('an attempt is committed before its request is sent', async (t) => {
  const seen: object[] = []
  const receiver = await aReceiver(t, (request, response) => {
    const id = decodeId('attempt', String(request.headers['service-delivery-id'])) ?? null
    void database
      .many(sql`select a.outcome, a.number, d.state from delivery_attempts a join deliveries d on d.id = a.delivery_id where a.id = ${id}`)
      .then((rows) => {
        seen.push(...rows)
        response.end()
      })
  })
  const route = await aRoute(receiver.url)
  await route.in(await route.send(), 'delivered')
  assert.deepEqual(seen, [{ outcome: null, number: 1, state: 'sending' }])
})

// When it is sent again

test('the default schedule is kept until the breaker opens, each wait within 20 %, and nothing is sent before its time', async (t) => {
  const sink = await aTestSink(t)
  sink.answer({ status: 500 })
  const route = await aRoute(sink.url)
  const record = await route.send()
  for (let failures = 1; failures <= 10; failures += 1) {
    const delivery = await eventually(async () => {
      const now = await route.in(record, 'retrying')
      return now.attempt_count === failures ? now : undefined
    }, 2_000)
    assertAbout(secondsUntil(delivery), DEFAULT_SCHEDULE_SECONDS[failures] ?? 0)
    assert.equal(delivery.attempts.at(-1).next_attempt_at, delivery.next_attempt_at)
    if (failures === 3) {
      world.clock.advance(secondsUntil(delivery) * 1_000 - 1)
      await shortly()
      assert.equal(sink.received.length, failures)
      // A lane that nobody holds is looked at every 2 s.
      world.clock.advance(2_000)
    } else advanceTo(delivery)
  }
  await sink.until(11)
  await route.remove()
})

test('the default schedule begins at once and ends at 80 hours', () => {
  assert.deepEqual(DEFAULT_SCHEDULE_SECONDS.slice(0, 9), [0, 5, 30, 120, 300, 900, 1_800, 3_600, 7_200])
  const hours = DEFAULT_SCHEDULE_SECONDS.reduce((sum, seconds) => sum + seconds, 0) / 3_600
  assert.ok(hours > 78 && hours <= 80, `${hours} hours`)
})

test('a destination’s own schedule is kept; when it is used up the delivery has failed, and a replay starts it afresh', async (t) => {
  const sink = await aTestSink(t)
  sink.answer({ status: 500, body: 'no' })
  const route = await aRoute(sink.url, { retry: { schedule_seconds: [0, 100] } })
  const record = await route.send()
  const retrying = await route.in(record, 'retrying')
  assertAbout(secondsUntil(retrying), 100)
  advanceTo(retrying)
  const failed = await route.in(record, 'failed')
  assert.deepEqual([failed.attempt_count, failed.next_attempt_at, failed.last_status, failed.last_error], [2, null, 500, 'bad_status'])
  assert.equal(failed.attempts[1].next_attempt_at, null)
  const replayed = await route.replay(failed)
  assert.equal(replayed.body.delivery.state, 'pending')
  const again = await route.in(record, 'retrying')
  assert.equal(again.attempts[2].trigger, 'replay')
  assertAbout(secondsUntil(again), 100)
  await route.remove()
})

test('Retry-After lengthens the wait on 429 and 503, in seconds or as a date, up to 24 hours; nonsense changes nothing', async (t) => {
  const sink = await aTestSink(t)
  const route = await aRoute(sink.url, { retry: { schedule_seconds: [0, 100] } })
  const asked = async (status: number, value: string): Promise<number> => {
    sink.answer({ status, headers: { 'retry-after': value } })
    return secondsUntil(await route.in(await route.send(), 'retrying'))
  }
  assert.equal(await asked(503, '600'), 600)
  assert.equal(await asked(429, '601'), 601)
  const date = new Date(Math.floor(world.clock.wall() / 1_000) * 1_000 + 700_000)
  const wait = await asked(503, date.toUTCString())
  assert.ok(wait >= 699 && wait <= 701, `${wait} s`)
  assert.equal(await asked(503, '999999'), 86_400)
  assertAbout(await asked(503, '1'), 100)
  assertAbout(await asked(503, new Date(0).toUTCString()), 100)
  // Ten failures in a row would open the breaker.
  sink.answer({ status: 200 })
  await route.in(await route.send(), 'delivered')
  for (const nonsense of ['soon', '-5', '1e3', '12 h', '']) assertAbout(await asked(503, nonsense), 100)
  assertAbout(await asked(500, '600'), 100)
  await route.remove()
})

test('a redirect is a failure, and is not followed', async (t) => {
  const [sink, target] = [await aTestSink(t), await aTestSink(t)]
  for (const status of [301, 302, 307, 308]) {
    sink.answer({ status, headers: { location: target.url } })
    const route = await aRoute(sink.url)
    const delivery = await route.in(await route.send(), 'retrying')
    assert.deepEqual([delivery.last_status, delivery.last_error], [status, 'redirect'])
    await route.remove()
  }
  assert.equal(target.received.length, 0)
})

test('every status of 2xx succeeds, whatever its body', async (t) => {
  const sink = await aTestSink(t)
  for (const status of [200, 201, 202, 204, 299]) {
    sink.answer({ status })
    const route = await aRoute(sink.url)
    assert.equal((await route.in(await route.send(), 'delivered')).last_status, status)
  }
})

test('a 410 switches the destination off at once and pauses what waits for it; switched on, it is all sent', async (t) => {
  const receiver = await aReceiver(t)
  const route = await aRoute(receiver.url, { max_in_flight: 1 })
  const first = await route.send()
  await receiver.until(1)
  const second = await route.send()
  receiver.held[0]?.writeHead(410).end()
  const paused = await route.in(first, 'paused')
  assert.deepEqual([paused.pause_reason, paused.last_status, paused.next_attempt_at], ['destination_disabled', 410, null])
  assert.equal((await route.in(second, 'paused')).attempt_count, 0)
  const { destination } = (await world.admin('GET', `destinations/${route.destination.id}`)).body
  assert.deepEqual([destination.enabled, destination.disabled_reason], [false, 'gone'])
  assert.notEqual(destination.disabled_at, null)
  const { id: attempt } = (await route.delivery(first)).attempts.at(-1)
  const row = await database.one<{ actor: string; details: string }>(sql`select actor, details from audit_rows where target = ${destination.id} and action = 'disable_destination'`)
  assert.deepEqual([row.actor, JSON.parse(row.details)], ['system', { reason: 'gone', attempt }])
  const third = await route.send()
  assert.equal((await route.delivery(third)).state, 'paused', 'the road knows at once')
  const on = await route.patch({ enabled: true })
  assert.deepEqual([on.enabled, on.disabled_reason, on.disabled_at], [true, null, null])
  for (let count = 2; count <= 4; count += 1) {
    await receiver.until(count)
    receiver.held[count - 1]?.end()
  }
  const triggers = await Promise.all([first, second, third].map(async (record) => (await route.in(record, 'delivered')).attempts.at(-1).trigger))
  assert.deepEqual(triggers, ['resume', 'initial', 'initial'])
})

// What is kept of an answer

test('the answer is kept: status, headers, the first 16 KiB of the body, and whether there was more', async (t) => {
  const sink = await aTestSink(t)
  const sizes = [16_384, 16_385, 100_000]
  for (const size of sizes) {
    sink.answer({ status: 200, headers: { 'x-trace': 'abc' }, body: 'é'.repeat(size / 2) + (size % 2 === 1 ? 'x' : '') })
    const route = await aRoute(sink.url)
    const [attempt] = (await route.in(await route.send(), 'delivered')).attempts
    assert.equal(Buffer.byteLength(attempt.response_body), Math.min(size, 16_384))
    assert.deepEqual([attempt.response_status, attempt.response_truncated, attempt.response_headers['x-trace']], [200, size > 16_384, 'abc'])
    assert.ok(attempt.duration_ms >= 0)
  }
})

const seenErrors = new Set<string>()

async function assertFails(route: Route, code: string): Promise<void> {
  const delivery = await route.in(await route.send(), 'retrying')
  const [attempt] = delivery.attempts
  assert.deepEqual([attempt.error_code, attempt.outcome, delivery.last_error], [code, 'failed', code])
  if (attempt.response_status === null) assert.match(attempt.error_detail, /^[A-Z].*\.$/)
  seenErrors.add(attempt.error_code)
  await route.remove()
}

test('every way to fail is named at the attempt', async (t) => {
  const [refusing, redirecting] = [await aTestSink(t), await aTestSink(t)]
  refusing.answer({ status: 404 })
  redirecting.answer({ status: 302, headers: { location: refusing.url } })
  const hanging = await aReceiver(t)
  const broken = await aReceiver(t, (_request, response) => response.socket?.destroy())
  const long = await aReceiver(t, (_request, response) => response.writeHead(200, { 'x-long': 'x'.repeat(20_000) }).end())
  const unreadable = await aRoute(refusing.url)
  const id = decodeId('destination', unreadable.destination.id) ?? ''
  await database.run(sql`update destinations set url = 'ftp://example.com/' where id = ${id}`)
  await Promise.all([
    assertFails(await aRoute(hanging.url, { timeout_ms: 1_000 }), 'timeout'),
    assertFails(await aRoute(closedUrl), 'connection_refused'),
    assertFails(await aRoute(broken.url), 'connection_reset'),
    assertFails(await aRoute('https://no-such-host.invalid/'), 'dns_failed'),
    assertFails(await aRoute(refusing.url.replace('http:', 'https:')), 'tls_failed'),
    assertFails(await aRoute(redirecting.url), 'redirect'),
    assertFails(await aRoute(long.url), 'response_too_large'),
    assertFails(await aRoute(refusing.url), 'bad_status'),
    assertFails(unreadable, 'invalid_url'),
    assertFails(await aRoute(refusing.url, { proxy: { url: closedUrl } }), 'proxy_failed'),
    assertFails(await aRoute(refusing.url, { auth: { kind: 'oauth2_client_credentials', token_url: closedUrl, client_id: 'c', client_secret: 's' } }), 'auth_failed'),
    assertFails(await aRoute(refusing.url, { payload_template: { a: '{{ (1..100000000) | size }}' } }), 'template_failed'),
  ])
})

/** An answer that breaks off inside its body. */
const breaksOff = (status: number, headers: object = {}) => (_request: IncomingMessage, response: ServerResponse): void => {
  response.writeHead(status, { 'content-length': 100, ...headers })
  response.write('half', () => response.socket?.end())
}

/** One whose body does not end. */
const hangs = (_request: IncomingMessage, response: ServerResponse): void => void response.writeHead(200, { 'content-length': 100 }).write('half')

/** How the delivery and its only attempt ended. */
const endOf = async (receiver: Held, state: string, members: object = {}): Promise<readonly unknown[]> => {
  const route = await aRoute(receiver.url, members)
  const delivery = await route.in(await route.send(), state)
  await route.remove()
  assert.equal(receiver.held.length, 1, 'it was sent once')
  const { response_status, response_body, response_truncated, error_code, next_attempt_at } = delivery.attempts[0]
  assert.deepEqual([response_body, response_truncated], ['half', true])
  return [response_status, error_code, next_attempt_at === null ? null : Date.parse(next_attempt_at) >= world.clock.now() + 3_600_000]
}

test('a complete head decides, whatever becomes of the body: 2xx is delivered, 410 disables, Retry-After counts', async (t) => {
  assert.deepEqual(await endOf(await aReceiver(t, breaksOff(200)), 'delivered'), [200, null, null])
  assert.deepEqual(await endOf(await aReceiver(t, hangs), 'delivered', { timeout_ms: 3_000 }), [200, null, null])
  assert.deepEqual(await endOf(await aReceiver(t, breaksOff(302)), 'retrying'), [302, 'redirect', false])
  assert.deepEqual(await endOf(await aReceiver(t, breaksOff(410)), 'paused'), [410, 'bad_status', null])
  assert.deepEqual(await endOf(await aReceiver(t, breaksOff(429, { 'retry-after': '3600' })), 'retrying'), [429, 'bad_status', true])
})

test('an address that is not allowed is refused when it is saved, and as a name when it is sent', async (t) => {
  const guarded = await aWorld({ now: world.clock.now(), env: { OUTBOUND_ALLOW: '192.0.2.0/24' } })
  t.after(() => guarded.stop())
  const literals = [
    'https://127.0.0.1/', 'https://10.1.2.3/', 'https://192.168.0.1/', 'https://169.254.169.254/latest', 'https://[::1]/', 'https://[fd00::1]/',
    'https://[::ffff:10.0.0.1]/', 'https://0x7f000001/', 'https://2130706433/', 'http://1.1.1.1/', 'ftp://example.com/', 'https://user:pw@example.com/',
    'not a url', 'https://example.com:0/',
  ]
  for (const url of literals) {
    const answer = await guarded.admin('POST', 'destinations', { name: 'x', url })
    assert.deepEqual([url, answer.status, answer.body.reason], [url, 400, 'invalid_url'])
  }
  const { destination } = await aDestination(guarded, { url: 'https://example.com/' })
  const moved = (url: string): Promise<Answer> => guarded.admin('PATCH', `destinations/${destination.id}`, { url })
  assert.equal((await moved('https://10.0.0.1/')).body.reason, 'invalid_url')
  assert.equal((await moved('https://localhost/')).status, 200, 'a name is looked up when it is used')
  assert.equal((await post(guarded.endpoint, '{}')).status, 201)
  const { id } = await eventually(async () => (await guarded.admin('GET', 'deliveries?state=retrying')).body.deliveries[0], 2_000)
  const [attempt] = (await guarded.admin('GET', `deliveries/${id}`)).body.delivery.attempts
  assert.deepEqual([attempt.error_code, attempt.response_status], ['blocked_address', null])
  assert.doesNotMatch(attempt.error_detail, /127\.0\.0\.1|::1/, 'it names no address')
  seenErrors.add(attempt.error_code)
})

test('every error code was seen at an attempt', () => {
  assert.deepEqual(ERROR_CODES.filter((code) => !seenErrors.has(code)), [])
})

// Switching, deleting, replaying

test('a destination that is switched off is sent nothing; switched on, what was retrying is resumed', async (t) => {
  const sink = await aTestSink(t)
  sink.answer({ status: 500 })
  const route = await aRoute(sink.url)
  const record = await route.send()
  await route.in(record, 'retrying')
  const off = await route.patch({ enabled: false })
  assert.deepEqual([off.enabled, off.disabled_reason], [false, 'by_hand'])
  assert.equal((await route.delivery(record)).state, 'paused')
  world.clock.advance(60_000)
  await shortly()
  assert.equal(sink.received.length, 1)
  sink.answer({ status: 200 })
  await route.patch({ enabled: true })
  assert.equal((await route.in(record, 'delivered')).attempts[1].trigger, 'resume')
})

test('deleting a destination cancels all that is outstanding, what is being sent included; the rest stays in the list', async (t) => {
  const receiver = await aReceiver(t)
  const route = await aRoute(receiver.url, { max_in_flight: 2 })
  const done = await route.send()
  await receiver.until(1)
  receiver.held[0]?.end()
  await route.in(done, 'delivered')
  const retrying = await route.send()
  await receiver.until(2)
  receiver.held[1]?.writeHead(500).end()
  await route.in(retrying, 'retrying')
  const sending = await Promise.all([route.send(), route.send()])
  await receiver.until(4)
  const pending = await route.send()
  await route.remove()
  for (const record of [retrying, ...sending, pending]) assert.equal((await route.delivery(record)).state, 'cancelled')
  assert.equal((await route.delivery(done)).state, 'delivered')
  const cut = await route.delivery(sending[0])
  assert.equal(cut.attempts[0].outcome, 'interrupted')
  receiver.held[2]?.end()
  receiver.held[3]?.end()
  await shortly()
  assert.deepEqual((await route.delivery(sending[0])).state, 'cancelled', 'an answer that comes later changes nothing')
  const refused = await route.replay(cut)
  assert.deepEqual([refused.status, refused.body.reason], [409, 'invalid_state'])
  assert.match(refused.body.error, /deleted/)
})

test('many that have ended are replayed behind what is new: they wait as retries do', async (t) => {
  const sink = await aTestSink(t)
  sink.answer((_request, index) => ({ status: index < 2 ? 500 : 200 }))
  const [route, other] = [await aRoute(sink.url, { retry: { schedule_seconds: [0] } }), await aRoute(sink.url)]
  const failed = await route.in(await route.send(), 'failed')
  const cancelled = await other.in(await other.send(), 'retrying')
  await world.admin('POST', `deliveries/${cancelled.id}/cancel`)
  const delivered = await route.in(await route.send(), 'delivered')
  for (const { destination } of [route, other]) {
    await world.admin('POST', 'deliveries/replays', { filter: { state: ['failed', 'cancelled', 'delivered'], destination_id: destination.id } })
  }
  const lastTriggers = async (): Promise<string[]> => Promise.all([failed, cancelled, delivered].map(async ({ record_id }) => (await route.delivery(record_id)).attempts.at(-1).trigger))
  await eventually(async () => {
    world.clock.advance(500)
    return (await lastTriggers()).every((trigger) => trigger === 'replay') ? true : undefined
  }, 2_000)
  for (const { record_id } of [failed, cancelled, delivered]) await route.in(record_id, 'delivered')
})

test('a paused delivery is cancelled with its destination', async (t) => {
  const sink = await aTestSink(t)
  const route = await aRoute(sink.url, { enabled: false })
  const record = await route.send()
  assert.equal((await route.delivery(record)).state, 'paused')
  await route.remove()
  assert.equal((await route.delivery(record)).state, 'cancelled')
})

test('deleting a project cancels what is outstanding in it, what its lanes’ holder has in hand included', async (t) => {
  const receiver = await aReceiver(t)
  const { project } = (await world.admin('POST', 'projects', { name: 'Short-lived' })).body
  const inside = (method: string, path: string, body?: object): Promise<Answer> => world.admin(method, `projects/${project.id}/${path}`, body)
  const { webhook } = (await inside('POST', 'webhooks', { name: 'in' })).body
  await inside('POST', 'destinations', { name: 'out', url: receiver.url, max_in_flight: 2 })
  await inside('POST', 'destinations', { name: 'off', url: receiver.url, enabled: false })
  const projectId = decodeId('project', project.id) ?? ''
  const states = async (): Promise<string[]> => {
    const rows = await database.many<{ state: string }>(sql`select state from deliveries where project_id = ${projectId} order by state`)
    return rows.map(({ state }) => state)
  }
  await post(webhook.public_url, '{}')
  await receiver.until(1)
  receiver.held[0]?.writeHead(500).end()
  await eventually(async () => ((await states()).includes('retrying') ? true : undefined))
  await post(webhook.public_url, '{}')
  await receiver.until(2)
  assert.equal((await world.admin('DELETE', `projects/${project.id}`)).status, 200)
  receiver.held[1]?.writeHead(500).end()
  const ended = await eventually(async () => {
    world.clock.advance(1_000)
    return (await states()).every((state) => state === 'cancelled') ? true : undefined
  })
  assert.ok(ended)
  world.clock.advance(60_000)
  await shortly()
  assert.equal(receiver.held.length, 2, 'nothing more is sent')
})

test('only a delivery that has ended can be replayed; while its destination is off it waits', async (t) => {
  const receiver = await aReceiver(t)
  const route = await aRoute(receiver.url, { retry: { schedule_seconds: [0, 100] }, max_in_flight: 1 })
  const refusedIn = async (record: string, state: string): Promise<void> => {
    const answer = await route.replay(await route.in(record, state))
    assert.deepEqual([state, answer.status, answer.body.reason], [state, 409, 'invalid_state'])
  }
  const record = await route.send()
  await receiver.until(1)
  await refusedIn(record, 'sending')
  await refusedIn(await route.send(), 'pending')
  receiver.held[0]?.writeHead(500).end()
  await receiver.until(2)
  receiver.held[1]?.end()
  await refusedIn(record, 'retrying')
  await route.patch({ enabled: false })
  await refusedIn(record, 'paused')
  await route.patch({ enabled: true })
  await receiver.until(3)
  receiver.held[2]?.writeHead(500).end()
  const failed = await route.in(record, 'failed')
  await route.patch({ enabled: false })
  assert.equal((await route.replay(failed)).body.delivery.state, 'paused')
  await route.patch({ enabled: true })
  await receiver.until(4)
  receiver.held[3]?.end()
  const delivered = await route.in(record, 'delivered')
  assert.equal(delivered.attempts.at(-1).trigger, 'resume')
  await route.patch({ enabled: false })
  assert.equal((await route.replay(delivered)).body.delivery.pause_reason, 'destination_disabled')
})

test('a delivery that was cancelled by hand can be replayed', async (t) => {
  const sink = await aTestSink(t)
  sink.answer({ status: 500 })
  const route = await aRoute(sink.url)
  const cancelled = async (): Promise<Delivery> => {
    const record = await route.send()
    await route.in(record, 'retrying', 'paused')
    const row = await database.one<{ workspace_id: string }>(sql`select workspace_id from projects limit 1`)
    const destinationId = decodeId('destination', route.destination.id) ?? ''
    await cancelOutstanding(database, { workspaceId: row.workspace_id, destinationId, now: new Date(world.clock.now()) })
    return route.in(record, 'cancelled')
  }
  const first = await cancelled()
  sink.answer({ status: 200 })
  assert.equal((await route.replay(first)).body.delivery.state, 'pending')
  await route.in(first.record_id, 'delivered')
  await route.patch({ enabled: false })
  assert.equal((await route.replay(await cancelled())).body.delivery.state, 'paused')
})

test('a suspended workspace is sent nothing and loses nothing', async (t) => {
  const sink = await aTestSink(t)
  sink.answer({ status: 500 })
  const own = await aWorld({ now: world.clock.now() })
  t.after(() => own.stop())
  await aDestination(own, { url: sink.url })
  await post(own.endpoint, '{}')
  const only = (state: string) =>
    eventually(async () => {
      const [delivery] = (await own.admin('GET', 'deliveries')).body.deliveries
      return delivery?.state === state ? delivery : undefined
    }, 2_000)
  await only('retrying')
  await own.app.deps.database.run(sql`update workspaces set suspended_at = now()`)
  for (let step = 0; step < 8; step += 1) {
    own.clock.advance(3_000)
    await shortly()
  }
  assert.equal((await only('paused')).pause_reason, 'workspace_suspended')
  assert.equal(sink.received.length, 1)
  assert.equal((await own.admin('POST', 'destinations', { name: 'x', url: sink.url })).body.reason, 'workspace_suspended')
  sink.answer({ status: 200 })
  await own.app.deps.database.run(sql`update workspaces set suspended_at = null`)
  own.clock.advance(3_000)
  assert.equal((await only('delivered')).attempt_count, 2)
})

// Bounds and fairness

test('max_in_flight is never exceeded', async (t) => {
  let [now, most] = [0, 0]
  const receiver = await aReceiver(t, (_request, response) => {
    now += 1
    most = Math.max(most, now)
    setTimeout(() => {
      now -= 1
      response.end()
    }, 15)
  })
  const route = await aRoute(receiver.url, { max_in_flight: 3 })
  const records = await Promise.all(Array.from({ length: 24 }, () => route.send()))
  for (const record of records) await route.in(record, 'delivered')
  assert.equal(most, 3)
})

test('a destination that is dead, with a backlog, delays no other', async (t) => {
  const [hanging, sink] = [await aReceiver(t), await aTestSink(t)]
  const dead = await aRoute(hanging.url, { timeout_ms: 60_000, max_in_flight: 5 })
  await Promise.all(Array.from({ length: 60 }, () => dead.send()))
  await hanging.until(5)
  const route = await aRoute(sink.url)
  const records = await Promise.all(Array.from({ length: 20 }, () => route.send()))
  await sink.until(20)
  for (const record of records) await route.in(record, 'delivered')
  assert.equal(hanging.held.length, 5)
  await dead.remove()
})

// Ends of processes

test('a server that is stopped ends what is under way, and another one sends the rest', async (t) => {
  const receiver = await aReceiver(t)
  const first = await aWorld({ now: world.clock.now() })
  t.after(() => first.storage.stop())
  await aDestination(first, { url: receiver.url, max_in_flight: 1 })
  for (let count = 0; count < 3; count += 1) await post(first.endpoint, `{"n":${count}}`)
  await receiver.until(1)
  const stopped = first.app.stop()
  await shortly()
  receiver.held[0]?.end()
  await stopped
  assert.equal(receiver.held.length, 1, 'nothing more is begun')
  const second = await aWorld({ beside: first, now: first.clock.now() })
  t.after(() => second.stop())
  const states = async (): Promise<string[]> => (await second.admin('GET', 'deliveries')).body.deliveries.map((delivery: Delivery) => delivery.state)
  for (const count of [2, 3]) {
    await receiver.until(count)
    receiver.held[count - 1]?.end()
  }
  await eventually(async () => ((await states()).every((state) => state === 'delivered') ? true : undefined))
  const attempts = await second.app.deps.database.many(sql`select number, outcome from delivery_attempts`)
  assert.deepEqual([...attempts], Array.from({ length: 3 }, () => ({ number: 1, outcome: 'succeeded' })))
})

test('what a server that died was sending is taken over when its lease ends: interrupted, and sent again', async (t) => {
  const receiver = await aReceiver(t)
  const died = await aWorld({ now: world.clock.now() })
  await aDestination(died, { url: receiver.url })
  await post(died.endpoint, '{}')
  await receiver.until(1)
  // The clock of the first one stands still from here on: it beats no more.
  const second = await aWorld({ beside: died, now: died.clock.now() + 14_000 })
  t.after(async () => {
    await second.stop()
    await died.stop()
  })
  await shortly()
  assert.equal(receiver.held.length, 1, 'as long as the lease lives nobody else sends')
  second.clock.advance(2_000)
  await receiver.until(2)
  receiver.held[1]?.end()
  const delivery = await eventually(async () => (await second.admin('GET', 'deliveries?state=delivered')).body.deliveries[0], 2_000)
  receiver.held[0]?.writeHead(500).end()
  await shortly()
  const { attempts, state } = (await second.admin('GET', `deliveries/${delivery.id}`)).body.delivery
  assert.equal(state, 'delivered', 'the late answer to the dead one changes nothing')
  assert.deepEqual(attempts.map((attempt: Delivery) => [attempt.number, attempt.trigger, attempt.outcome]), [
    [1, 'initial', 'interrupted'],
    [2, 'automatic', 'succeeded'],
  ])
})

test('every transition of the table was made here, and none beside it', async () => {
  const moves = await database.many<{ old: string; new: string }>(sql`select old, new from moves order by old, new`)
  const table = Object.entries(NEXT).flatMap(([from, all]) => all.map((to) => `${from} → ${to}`))
  assert.deepEqual([...moves].map((move) => `${move.old} → ${move.new}`).toSorted(), table.toSorted())
})
