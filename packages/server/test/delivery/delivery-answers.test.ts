import assert from 'node:assert/strict'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { test } from 'node:test'
import { decodeId, DEFAULT_SCHEDULE_SECONDS, ERROR_CODES } from '@postroad/contract'
import { sql, type Database } from '../../src/platform/db.ts'
import {
  advanceTo,
  aReceiver,
  aRoute,
  assertAbout,
  aTestSink,
  MOVES,
  movesSeen,
  onDeliveryStage,
  secondsUntil,
  type Held,
  type Route,
} from '../stage/delivery-routes.ts'
import { createResolver } from '../../src/platform/resolver.ts'
import { NXDOMAIN } from '../../chaos/dns-wire.ts'
import { aDestination, post } from '../stage/fixtures.ts'
import { aNameServer } from '../stage/name-server.ts'
import { aSink, aWorld, type Answer, type World } from '../stage/harness.ts'

let world: World
let database: Database
/** An address that refuses connections. */
let closedUrl: string

onDeliveryStage(async (made) => {
  ;({ world, database } = made)
  const sink = await aSink()
  closedUrl = sink.url
  await sink.stop()
})

// The times of the next attempts

test('the default schedule applies until the breaker opens, each wait varies by at most 20 %, and nothing is sent early', async (t) => {
  const sink = await aTestSink(t)
  sink.answer({ status: 500 })
  const route = await aRoute(world, sink.url)
  const record = await route.send()
  for (let failures = 1; failures <= 10; failures += 1) {
    const delivery = await route.in(record, 'retrying')
    assert.equal(delivery.attempt_count, failures)
    assertAbout(secondsUntil(world, delivery), DEFAULT_SCHEDULE_SECONDS[failures] ?? 0)
    assert.equal(delivery.attempts.at(-1).next_attempt_at, delivery.next_attempt_at)
    if (failures === 3) {
      world.clock.advance(secondsUntil(world, delivery) * 1_000 - 1)
      await world.idle()
      assert.equal(sink.received.length, failures)
      // The loop examines a lane without an owner every 2 s.
      world.clock.advance(2_000)
    } else advanceTo(world, delivery)
  }
  await sink.until(11)
  await route.remove()
})

test('the default schedule starts immediately and lasts 78 to 80 hours', () => {
  assert.deepEqual(DEFAULT_SCHEDULE_SECONDS.slice(0, 9), [0, 5, 30, 120, 300, 900, 1_800, 3_600, 7_200])
  const hours = DEFAULT_SCHEDULE_SECONDS.reduce((sum, seconds) => sum + seconds, 0) / 3_600
  assert.ok(hours > 78 && hours <= 80, `${hours} hours`)
})

test('Retry-After on 429 and 503 lengthens the wait, in seconds or as a date, up to 24 hours; an invalid value changes nothing', async (t) => {
  const sink = await aTestSink(t)
  const route = await aRoute(world, sink.url, { retry: { schedule_seconds: [0, 100] } })
  const asked = async (status: number, value: string): Promise<number> => {
    sink.answer({ status, headers: { 'retry-after': value } })
    return secondsUntil(world, await route.in(await route.send(), 'retrying'))
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
    const route = await aRoute(world, sink.url)
    const delivery = await route.in(await route.send(), 'retrying')
    assert.deepEqual([delivery.last_status, delivery.last_error], [status, 'redirect'])
    await route.remove()
  }
  assert.equal(target.received.length, 0)
})

test('every 2xx status is a success, whatever its body is', async (t) => {
  const sink = await aTestSink(t)
  for (const status of [200, 201, 202, 204, 299]) {
    sink.answer({ status })
    const route = await aRoute(world, sink.url)
    assert.equal((await route.in(await route.send(), 'delivered')).last_status, status)
  }
})

// The parts of an answer that are stored

test('the attempt stores the answer: status, headers, the first 16 KiB of the body, and whether there was more', async (t) => {
  const sink = await aTestSink(t)
  const sizes = [16_384, 16_385, 100_000]
  for (const size of sizes) {
    sink.answer({
      status: 200,
      headers: { 'x-trace': 'abc' },
      body: 'é'.repeat(size / 2) + (size % 2 === 1 ? 'x' : ''),
    })
    const route = await aRoute(world, sink.url)
    const [attempt] = (await route.in(await route.send(), 'delivered')).attempts
    assert.equal(Buffer.byteLength(attempt.response_body), Math.min(size, 16_384))
    assert.deepEqual(
      [attempt.response_status, attempt.response_truncated, attempt.response_headers['x-trace']],
      [200, size > 16_384, 'abc'],
    )
    assert.ok(attempt.duration_ms >= 0)
  }
})

test('a success with headers that are too long to be stored is a success, and the attempt says what is missing', async (t) => {
  const long = await aReceiver(t, (_request, response) =>
    response.writeHead(200, { 'x-first': '1', 'x-long': 'x'.repeat(20_000) }).end('done'),
  )
  const route = await aRoute(world, long.url)
  const [attempt] = (await route.in(await route.send(), 'delivered')).attempts
  assert.deepEqual(
    [attempt.error_code, attempt.error_detail, attempt.response_body],
    [null, 'Only the first 16 KiB and 100 lines of the response headers are stored.', 'done'],
  )
  assert.equal(attempt.response_headers['x-first'], '1')
  await route.remove()
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

test('the attempt names every kind of failure', async (t) => {
  const [refusing, redirecting] = [await aTestSink(t), await aTestSink(t)]
  refusing.answer({ status: 404 })
  redirecting.answer({ status: 302, headers: { location: refusing.url } })
  const hanging = await aReceiver(t)
  const broken = await aReceiver(t, (_request, response) => response.socket?.destroy())
  const early = await aReceiver(t, (_request, response) => {
    for (let n = 0; n < 30; n += 1) response.writeProcessing()
    response.end()
  })
  const unreadable = await aRoute(world, refusing.url)
  const id = decodeId('destination', unreadable.destination.id) ?? ''
  await database.run(sql`update destinations set url = 'ftp://example.com/' where id = ${id}`)
  await Promise.all([
    assertFails(await aRoute(world, hanging.url, { timeout_ms: 1_000 }), 'timeout'),
    assertFails(await aRoute(world, closedUrl), 'connection_refused'),
    assertFails(await aRoute(world, broken.url), 'connection_reset'),
    assertFails(await aRoute(world, 'https://no-such-host.invalid/'), 'dns_failed'),
    assertFails(await aRoute(world, refusing.url.replace('http:', 'https:')), 'tls_failed'),
    assertFails(await aRoute(world, redirecting.url), 'redirect'),
    assertFails(await aRoute(world, early.url), 'response_too_large'),
    assertFails(await aRoute(world, refusing.url), 'bad_status'),
    assertFails(unreadable, 'invalid_url'),
    assertFails(await aRoute(world, refusing.url, { proxy: { url: closedUrl } }), 'proxy_failed'),
    assertFails(
      await aRoute(world, refusing.url, {
        auth: { kind: 'oauth2_client_credentials', token_url: closedUrl, client_id: 'c', client_secret: 's' },
      }),
      'auth_failed',
    ),
    assertFails(
      await aRoute(world, refusing.url, { payload_template: { a: '{{ (1..100000000) | size }}' } }),
      'template_failed',
    ),
  ])
})

/** An answer that breaks off inside its body. */
const breaksOff =
  (status: number, headers: object = {}) =>
  (_request: IncomingMessage, response: ServerResponse): void => {
    response.writeHead(status, { 'content-length': 100, ...headers })
    response.write('half', () => response.socket?.end())
  }

/** An answer whose body does not end. */
const hangs = (_request: IncomingMessage, response: ServerResponse): void =>
  void response.writeHead(200, { 'content-length': 100 }).write('half')

/** The end of the delivery and of its only attempt. */
const endOf = async (receiver: Held, state: string, members: object = {}): Promise<readonly unknown[]> => {
  const route = await aRoute(world, receiver.url, members)
  const delivery = await route.in(await route.send(), state)
  await route.remove()
  assert.equal(receiver.held.length, 1, 'it was sent once')
  const { response_status, response_body, response_truncated, error_code, next_attempt_at } = delivery.attempts[0]
  assert.deepEqual([response_body, response_truncated], ['half', true])
  return [
    response_status,
    error_code,
    next_attempt_at === null ? null : Date.parse(next_attempt_at) >= world.clock.now() + 3_600_000,
  ]
}

test('a complete head decides the result, whatever happens to the body: 2xx succeeds, 410 disables, Retry-After counts', async (t) => {
  assert.deepEqual(await endOf(await aReceiver(t, breaksOff(200)), 'delivered'), [200, null, null])
  assert.deepEqual(await endOf(await aReceiver(t, hangs), 'delivered', { timeout_ms: 3_000 }), [200, null, null])
  assert.deepEqual(await endOf(await aReceiver(t, breaksOff(302)), 'retrying'), [302, 'redirect', false])
  assert.deepEqual(await endOf(await aReceiver(t, breaksOff(410)), 'paused'), [410, 'bad_status', null])
  assert.deepEqual(await endOf(await aReceiver(t, breaksOff(429, { 'retry-after': '3600' })), 'retrying'), [
    429,
    'bad_status',
    true,
  ])
})

test('a forbidden address is refused when it is saved, and a host name that resolves to one when it is sent', async (t) => {
  const guarded = await aWorld({ now: world.clock.now(), loops: [], env: { OUTBOUND_ALLOW: '192.0.2.0/24' } })
  t.after(() => guarded.stop())
  const literals = [
    'https://127.0.0.1/',
    'https://10.1.2.3/',
    'https://192.168.0.1/',
    'https://169.254.169.254/latest',
    'https://[::1]/',
    'https://[fd00::1]/',
    'https://[::ffff:10.0.0.1]/',
    'https://0x7f000001/',
    'https://2130706433/',
    'http://1.1.1.1/',
    'ftp://example.com/',
    'https://user:pw@example.com/',
    'not a url',
    'https://example.com:0/',
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
  await guarded.idle()
  const [{ id }] = (await guarded.admin('GET', 'deliveries?state=retrying')).body.deliveries
  const [attempt] = (await guarded.admin('GET', `deliveries/${id}`)).body.delivery.attempts
  assert.deepEqual([attempt.error_code, attempt.response_status], ['blocked_address', null])
  assert.doesNotMatch(attempt.error_detail, /127\.0\.0\.1|::1/, 'it names no address')
  seenErrors.add(attempt.error_code)
})

test('the attempts of these tests showed every error code of HTTP', () => {
  // The tests of transforms and of the other kinds of destinations show these.
  const ofOthers = ['transform_failed', 'refused', 'event_too_large']
  assert.deepEqual(
    ERROR_CODES.filter((code) => !seenErrors.has(code)),
    ofOthers,
  )
})

test('no transition occurred that the table does not have', async () => {
  assert.deepEqual(
    (await movesSeen(database)).filter((move) => !MOVES.includes(move)),
    [],
  )
})

test('plain http is refused when it is saved, unless OUTBOUND_ALLOW contains each address of the host', async (t) => {
  const names: Readonly<Record<string, readonly string[]>> = {
    'inside.example': ['192.0.2.7'],
    'outside.example': ['203.0.113.9'],
    'both.example': ['192.0.2.7', '203.0.113.9'],
  }
  const asked: string[] = []
  const { servers } = await aNameServer(t, ({ name, family }) => {
    asked.push(name)
    const addresses = names[name]
    return addresses === undefined ? { rcode: NXDOMAIN } : { addresses: family === 4 ? [...addresses] : [] }
  })
  const resolver = createResolver({ servers })
  const guarded = await aWorld({ now: world.clock.now(), loops: [], env: { OUTBOUND_ALLOW: '192.0.2.0/24' }, resolver })
  t.after(() => guarded.stop())
  const made = (url: string, members: object = {}): Promise<Answer> =>
    guarded.admin('POST', 'destinations', { name: url, url, ...members })
  const rule = 'Plain http goes only to addresses in OUTBOUND_ALLOW'
  const another = 'has another one. Use https, or ask the operator to add the address to OUTBOUND_ALLOW.'
  for (const [url, why] of [
    ['http://outside.example/', `outside.example ${another}`],
    ['http://both.example:8080/x', `both.example ${another}`],
    ['http://localhost/', `localhost ${another}`],
    [
      'http://nothing.example/',
      'nothing.example cannot be looked up: The host name has no address. Use https, or correct the name.',
    ],
  ] as const) {
    const { status, body } = await made(url)
    assert.deepEqual([status, body.reason, body.error], [400, 'invalid_url', `url: ${rule}, and ${why}`])
  }
  const { id } = (await made('http://inside.example/')).body.destination
  const patch = (members: object): Promise<Answer> => guarded.admin('PATCH', `destinations/${id}`, members)
  const auth = { kind: 'oauth2_client_credentials', client_id: 'c', client_secret: 's' }
  const token = await patch({ auth: { ...auth, token_url: 'http://outside.example/token' } })
  assert.deepEqual([token.status, token.body.error], [400, `auth.token_url: ${rule}, and outside.example ${another}`])
  assert.equal((await patch({ url: 'http://both.example/' })).body.reason, 'invalid_url')
  // Neither stored URLs nor https URLs are resolved.
  asked.length = 0
  assert.equal((await patch({ url: 'http://inside.example/', name: 'renamed' })).status, 200)
  assert.equal((await patch({ url: 'https://outside.example/' })).status, 200)
  assert.equal((await made('https://nothing.example/')).status, 201)
  assert.deepEqual(asked, [])
})
