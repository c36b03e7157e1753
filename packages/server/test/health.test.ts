import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { enterPlaces, leavePlaces, world } from './admin-asking.ts'
import { post } from './fixtures.ts'
import { aWorld } from './harness.ts'

/** What an operator asks a running server. */
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
  for (const line of text.trimEnd().split('\n')) assert.match(line, /^(# (HELP|TYPE) \w+ .+|\w+(\{\w+="[^"]*"(,\w+="[^"]*")*\})? \d+(\.\d+)?)$/)
  const series = text.split('\n').filter((line) => line.startsWith('# TYPE')).map((line) => line.split(' ')[2])
  assert.equal(new Set(series).size, series.length)
  assert.match(text, /^postroad_ingest_accepted_total [1-9]/m)
  assert.equal((await seen('/nothing-here')).status, 404)
})

test('with METRICS_TOKEN set, metrics are read with it only', async (t) => {
  const guarded = await aWorld({ env: { METRICS_TOKEN: 'a-token-of-some-length' } })
  t.after(() => guarded.stop())
  const read = async (headers: Record<string, string>): Promise<number> => (await fetch(`${guarded.baseUrl}/metrics`, { headers })).status
  assert.equal(await read({}), 401)
  assert.equal(await read({ authorization: 'Bearer wrong' }), 401)
  assert.equal(await read({ authorization: 'Bearer a-token-of-some-length' }), 200)
})

test('/readyz answers 503 when the database is gone, while /healthz says alive', async () => {
  const lost = await aWorld({ env: { LOG_LEVEL: 'silent', ROLES: 'web' } })
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
