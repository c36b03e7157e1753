import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { enterPlaces, leavePlaces, world } from '../stage/admin-asking.ts'
import { post, Wire } from '../stage/fixtures.ts'
import { aWorld, eventually, type World } from '../stage/harness.ts'

/** The routes with which an operator checks a running server. */
before(enterPlaces)
after(leavePlaces)

async function seen(path: string): Promise<{ readonly status: number; readonly type: string; readonly text: string }> {
  const response = await fetch(`${world.baseUrl}${path}`)
  assert.match(response.headers.get('request-id') ?? '', /^req_/)
  return { status: response.status, type: response.headers.get('content-type') ?? '', text: await response.text() }
}

test('/healthz, /readyz and /metrics answer, each with a Request-Id', async () => {
  assert.equal((await seen('/healthz')).status, 200)
  assert.equal((await seen('/readyz')).status, 200)
  assert.equal((await post(world.endpoint, '{}')).status, 201)
  const { status, type, text } = await seen('/metrics')
  assert.equal(status, 200)
  assert.match(type, /^text\/plain; version=0\.0\.4/)
  for (const line of text.trimEnd().split('\n'))
    assert.match(line, /^(# (HELP|TYPE) \w+ .+|\w+(\{\w+="[^"]*"(,\w+="[^"]*")*\})? \d+(\.\d+)?)$/)
  const series = text
    .split('\n')
    .filter((line) => line.startsWith('# TYPE'))
    .map((line) => line.split(' ')[2])
  assert.equal(new Set(series).size, series.length)
  assert.match(text, /^postroad_ingest_accepted_total [1-9]/m)
  assert.equal((await seen('/nothing-here')).status, 404)
})

test('with METRICS_TOKEN set, only a request with the token can read metrics', async (t) => {
  const guarded = await aWorld({ env: { METRICS_TOKEN: 'a-token-of-some-length' }, loops: [] })
  t.after(() => guarded.stop())
  const read = async (headers: Record<string, string>): Promise<number> =>
    (await fetch(`${guarded.baseUrl}/metrics`, { headers })).status
  assert.equal(await read({}), 401)
  assert.equal(await read({ authorization: 'Bearer wrong' }), 401)
  assert.equal(await read({ authorization: 'Bearer a-token-of-some-length' }), 200)
})

test('/readyz answers 503 when the database is gone, while /healthz reports that the process is alive', async () => {
  const lost = await aWorld({ env: { LOG_LEVEL: 'silent', ROLES: 'web' }, loops: [] })
  try {
    await lost.storage.stop()
    const ready = await fetch(`${lost.baseUrl}/readyz`)
    assert.equal(ready.status, 503)
    assert.equal(((await ready.json()) as { reason: string }).reason, 'overloaded')
    assert.equal((await fetch(`${lost.baseUrl}/healthz`)).status, 200)
  } finally {
    await lost.stop()
  }
})

/** The answer of /metrics to a request as written on the wire; fetch would set the Host itself. */
async function metricsStatus(at: World, headers: Readonly<Record<string, string>>): Promise<number | undefined> {
  const wire = new Wire(at.address)
  try {
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
    return (await wire.send(`GET /metrics HTTP/1.1\r\n${lines.join('')}\r\n`).answer())?.status
  } finally {
    wire.destroy()
  }
}

test('without METRICS_TOKEN only this machine can read metrics, by one of its own host names and not through a proxy', async (t) => {
  const named = await aWorld({ env: { PUBLIC_URL: 'https://hooks.example.com', TRUST_PROXY: '127.0.0.1' }, loops: [] })
  t.after(() => named.stop())
  for (const host of [
    'localhost',
    'localhost:4680',
    '127.0.0.1:80',
    '[::1]:4680',
    'hooks.example.com',
    'HOOKS.example.com:443',
  ])
    assert.equal(await metricsStatus(named, { Host: host }), 200, host)
  // A page of another site whose host name resolves to this machine sends that name.
  for (const host of ['evil.example', 'localhost.evil.example', '127.0.0.1.evil.example', '203.0.113.9', ''])
    assert.equal(await metricsStatus(named, { Host: host }), 401, host)
  for (const forwarded of [
    { 'X-Forwarded-For': '203.0.113.9' },
    { 'X-Forwarded-For': '127.0.0.1' },
    { Forwarded: 'for=127.0.0.1' },
    { Via: '1.1 proxy' },
    { 'X-Real-IP': '127.0.0.1' },
  ])
    assert.equal(await metricsStatus(named, { Host: 'localhost', ...forwarded }), 401, JSON.stringify(forwarded))
})

test('with METRICS_TOKEN a request through a proxy can read metrics too', async (t) => {
  const guarded = await aWorld({ env: { METRICS_TOKEN: 'a-token-of-some-length' }, loops: [] })
  t.after(() => guarded.stop())
  const headers = { Host: 'anything', Via: '1.1 proxy', 'X-Forwarded-For': '203.0.113.9' }
  assert.equal(await metricsStatus(guarded, { ...headers, Authorization: 'Bearer a-token-of-some-length' }), 200)
  assert.equal(await metricsStatus(guarded, { Host: 'localhost', Authorization: 'Bearer a-token-of-some-lengtH' }), 401)
})

const ask = async (wire: Wire, path: string): Promise<string> =>
  (await wire.send(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`).answer())?.body ?? ''

test('a connection beyond CONNECTIONS_MAX is closed immediately and counted, and a connection that ends makes room', async (t) => {
  const small = await aWorld({ env: { CONNECTIONS_MAX: '2', LOG_LEVEL: 'silent' }, loops: [] })
  t.after(() => small.stop())
  const [first, second] = [new Wire(small.address), new Wire(small.address)]
  for (const wire of [first, second]) assert.equal(await ask(wire, '/healthz'), '{"status":"ok"}')
  const third = new Wire(small.address)
  await third.closed
  assert.match(await ask(second, '/metrics'), /^postroad_connections_dropped 1$/m)
  first.destroy()
  await eventually('the server has noticed that the connection closed', async () => {
    const wire = new Wire(small.address)
    const answered = (await Promise.race([ask(wire, '/healthz'), wire.closed])) === '{"status":"ok"}'
    wire.destroy()
    return answered ? true : undefined
  })
  second.destroy()
})

test('the last tenth of CONNECTIONS_MAX is for ingest and health; other requests are refused until connections end', async (t) => {
  const small = await aWorld({ env: { CONNECTIONS_MAX: '20', LOG_LEVEL: 'silent' }, loops: [] })
  const held = Array.from({ length: 18 }, () => new Wire(small.address))
  t.after(() => small.stop())
  t.after(() => held.forEach((wire) => wire.destroy()))
  for (const wire of held) assert.equal(await ask(wire, '/healthz'), '{"status":"ok"}')
  assert.match(await ask(held[0] ?? assert.fail(), '/admin/api/me'), /"unauthorized"/)
  const last = new Wire(small.address)
  assert.equal(await ask(last, '/healthz'), '{"status":"ok"}')
  const path = new URL(small.endpoint).pathname
  const event = `POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}`
  assert.match((await last.send(event).answer())?.body ?? '', /"status":"accepted"/)
  const refused = await last.send('GET /v1/stream HTTP/1.1\r\nHost: a\r\n\r\n').answer()
  assert.match(refused?.body ?? '', /"reason":"overloaded"/)
  await last.closed
  await eventually('the server has noticed that the connection closed', async () =>
    (await ask(held[1] ?? assert.fail(), '/admin/api/me')).includes('"unauthorized"') ? true : undefined,
  )
})
