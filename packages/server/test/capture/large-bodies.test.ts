import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { aDestination, anIngestKey, aRule, aWebhook, filedText, post, submissionOf } from '../stage/fixtures.ts'
import { aSink, aWorld, type Answer, type World } from '../stage/harness.ts'
import { onWorldStage } from '../stage/world-stage.ts'

/** Bodies above 64 KiB are decoded and routed in threads, and get the same answers as smaller ones. */
let world: World
onWorldStage((made) => void ({ world } = made))

const LARGE = 65_537
const FORM = 'application/x-www-form-urlencoded'

/** How often each task ran in a thread while `work` was done. */
async function threadsFor<T>(work: () => Promise<T>): Promise<{ readonly value: T; readonly ran: object }> {
  const before = new Map(world.app.deps.heavy.load().ran)
  const value = await work()
  const ran = [...world.app.deps.heavy.load().ran].map(([task, count]) => [task, count - (before.get(task) ?? 0)])
  return { value, ran: Object.fromEntries(ran.filter(([, count]) => count !== 0)) }
}

const ROUTED = { 'body.decode': 1, 'event.route': 1 }
const REFUSED = { 'body.decode': 1 }

const bodyOf = (bytes: number): string => `"${'x'.repeat(bytes - 2)}"`
const packed = (text: string) => new Uint8Array(gzipSync(text))
/** A decision without the beginnings of the member that makes a body large. */
const shortened = (decision: object): unknown =>
  JSON.parse(JSON.stringify(decision).replaceAll(/"saw":"x+…",?|,"saw":"x+…"/g, ''))

/** JSON of an object with these members, and one that makes it large. */
const large = (members: string): string => `{${members}${members === '' ? '' : ','}"note":"${'x'.repeat(LARGE)}"}`

async function refused(
  body: string | Uint8Array<ArrayBuffer>,
  type: string,
): Promise<readonly [number, string, string]> {
  const { value, ran } = await threadsFor(() => post(world.endpoint, body, { type }))
  assert.deepEqual(ran, REFUSED)
  return [value.status, value.body.reason, value.body.error]
}

test('a body of 64 KiB needs no thread, and one byte more does', async () => {
  const small = await threadsFor(() => post(world.endpoint, bodyOf(65_536)))
  assert.deepEqual([small.value.status, small.ran], [201, {}])
  const { value, ran } = await threadsFor(() => post(world.endpoint, bodyOf(LARGE)))
  assert.deepEqual([value.status, ran], [201, ROUTED])
  assert.equal(await filedText(world, value), bodyOf(LARGE))
})

test('a body that is small only while it is compressed is decoded in a thread too', async () => {
  const text = JSON.stringify({ hex: randomBytes(LARGE).toString('hex') })
  const { value, ran } = await threadsFor(() =>
    post(world.endpoint, new Uint8Array(gzipSync(text)), { headers: { 'content-encoding': 'gzip' } }),
  )
  assert.deepEqual([value.status, ran], [201, ROUTED])
  assert.equal(await filedText(world, value), text)
})

describe('the same answer as for a small body', () => {
  test('rules file it with every digit, and the decision has each reason', async () => {
    const { key } = await anIngestKey(world)
    const rule = await aRule(world, {
      dataset: 'large_orders',
      conditions: [{ path: 'total', op: 'gte', value: 10 }],
      mappings: [
        { target: 'id', path: 'id' },
        { target: 'sum', path: 'total', transform: 'string' },
      ],
    })
    const other = await aRule(world, { dataset: 'never', conditions: [{ path: 'note', op: 'contains', value: 'y' }] })
    const { destination } = await aDestination(world, {
      url: 'http://127.0.0.1:9/',
      enabled: false,
      datasets: ['large_orders'],
      conditions: [{ path: 'sum', equals: '12.50' }],
      ordering: { path: 'id' },
    })
    const members = '"id":12345678901234567890,"total":12.50'
    const url = `${world.baseUrl}/v1/ingest/${key}`
    const [small, { value, ran }] = [await post(url, `{${members}}`), await threadsFor(() => post(url, large(members)))]
    assert.deepEqual(ran, ROUTED)
    assert.equal(await filedText(world, value), await filedText(world, small))
    const decisionOf = async ({ body }: Answer) => {
      const { decision } = await submissionOf(world, body.id)
      return JSON.parse(JSON.stringify(decision).replaceAll(body.records[0].id, 'rec'))
    }
    const decided = await decisionOf(value)
    assert.deepEqual(
      decided.rules.map(({ rule_id, matched }: { rule_id: string; matched: boolean }) => [rule_id, matched]),
      [
        [rule.id, true],
        [other.id, false],
      ],
    )
    assert.deepEqual(shortened(decided), shortened(await decisionOf(small)))
    const { deliveries } = (await world.admin('GET', `deliveries?destination_id=${destination.id}`)).body
    assert.deepEqual(
      deliveries.map(({ state }: { state: string }) => state),
      ['paused', 'paused'],
    )
  })

  test('an endpoint takes its key from it, so a repeat is a duplicate', async () => {
    const { public_url } = await aWebhook(world, { idempotency: { path: 'meta.event.id' } })
    const body = large('"meta":{"event":{"id":"e1"}}')
    const first = await post(public_url, body)
    const again = await post(public_url, body)
    assert.deepEqual([first.status, again.status, again.body.id], [201, 200, first.body.id])
    assert.equal((await post(public_url, large('"meta":{"event":{"id":"e2"}}'))).status, 201)
  })

  test('with an Idempotency-Key, another body is refused', async () => {
    const headers = { 'idempotency-key': 'large' }
    assert.equal((await post(world.endpoint, large('"a":1'), { headers })).status, 201)
    assert.equal((await post(world.endpoint, large('"a":1'), { headers })).status, 200)
    assert.equal((await post(world.endpoint, large('"a":2'), { headers })).body.reason, 'idempotency_key_reused')
  })

  test('a handshake in it is answered, and criteria that it does not meet file nothing', async () => {
    const asking = await aWebhook(world, { handshake: { kind: 'url_verification' } })
    const answer = await fetch(asking.public_url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: large('"type":"url_verification","challenge":"c1"'),
    })
    assert.deepEqual([answer.status, await answer.text()], [200, 'c1'])
    const { public_url } = await aWebhook(world, { criteria: [{ path: 'kind', equals: 'paid' }] })
    const { body } = await post(public_url, large('"kind":"open"'))
    assert.deepEqual(body.records, [])
    assert.deepEqual((await submissionOf(world, body.id)).decision.criteria.failed.saw, 'open')
  })

  test('forms and multipart bodies become objects', async () => {
    const value = 'y z+'.repeat(20_000)
    const form = await threadsFor(() => post(world.endpoint, `a=${value.replaceAll(' ', '%20')}&b=1+2`, { type: FORM }))
    assert.deepEqual(form.ran, ROUTED)
    assert.equal(await filedText(world, form.value), JSON.stringify({ a: value.replaceAll('+', ' '), b: '1 2' }))
    const data = new FormData()
    data.append('file', new Blob([randomBytes(LARGE)]), 'x.bin')
    const multipart = await threadsFor(() => post(world.endpoint, data))
    assert.deepEqual([multipart.value.status, multipart.ran], [201, ROUTED])
  })

  test('it is delivered unchanged', async () => {
    const sink = await aSink()
    await aDestination(world, { url: sink.url, datasets: ['large_delivered'] })
    const body = large('"n":1.0')
    assert.equal((await post(`${world.endpoint}/large_delivered`, body)).status, 201)
    const [{ body: received } = { body: '' }] = await sink.until(1)
    assert.ok(received.endsWith(`,"data":${body}}`))
    await sink.stop()
  })
})

describe('bodies that cost most for each byte that is sent', () => {
  test('a form of plus signs with an odd byte at its end is data', async () => {
    const { value, ran } = await threadsFor(() => post(world.endpoint, `k=${'+'.repeat(1_000_000)}%`, { type: FORM }))
    assert.deepEqual([value.status, ran], [201, ROUTED])
    assert.equal(await filedText(world, value), JSON.stringify({ k: `${' '.repeat(1_000_000)}%` }))
  })

  test('a list that does not end gets 400, with the place of the end', async () => {
    const text = `[${'{},'.repeat(340_000)}`
    const [status, , error] = await refused(text, 'application/json')
    assert.deepEqual(
      [status, error],
      [400, `The body is not valid JSON: it ends too early at line 1, column ${text.length + 1}.`],
    )
  })

  test('a multipart body of near boundaries gets 400', async () => {
    const begin = '--B\r\nContent-Disposition: form-data; name="a"\r\n\r\n'
    const [status, , error] = await refused(begin + '\r\n--'.repeat(260_000), 'multipart/form-data; boundary=B')
    assert.deepEqual([status, /ends too early/.test(error)], [400, true])
  })

  test('a body that inflates to more than 64 KiB and to more than 100 times its size gets 413 before it is decoded', async () => {
    const headers = { 'content-encoding': 'gzip' }
    const { value, ran } = await threadsFor(() =>
      post(world.endpoint, packed(`k=${'+'.repeat(1_000_000)}%`), { headers, type: FORM }),
    )
    assert.deepEqual([value.status, value.body.reason, ran], [413, 'payload_too_large', {}])
    assert.match(value.body.error, /more than 100 times its size/)
    const small = packed(`"${'x'.repeat(65_000)}"`)
    assert.ok(small.length * 100 < 65_000)
    assert.equal((await post(world.endpoint, small, { headers })).status, 201)
  })
})

test('many rules that search a small body are evaluated in a thread, and the next event goes there at once', async () => {
  const own = (await world.admin('POST', 'projects', { name: 'many rules' })).body.project
  const admin = (path: string, body: object) => world.admin('POST', `projects/${own.id}/${path}`, body)
  const conditions = Array.from({ length: 50 }, () => ({ path: 'text', op: 'contains', value: 'a' }))
  for (let rule = 0; rule < 20; rule += 1)
    assert.equal((await admin('rules', { name: `rule ${rule}`, dataset: `d${rule}`, conditions })).status, 201)
  const { key } = (await admin('ingest-keys', { name: 'key' })).body
  const url = `${world.baseUrl}/v1/ingest/${key}`
  const body = JSON.stringify({ text: 'a'.repeat(10_000) })
  for (let sent = 0; sent < 2; sent += 1) {
    const { value, ran } = await threadsFor(() => post(url, body))
    assert.deepEqual([value.status, value.body.records.length, ran], [201, 20, { 'event.route': 1 }])
  }
  const short = await threadsFor(() => post(url, '{"text":"a"}'))
  assert.deepEqual([short.value.body.records.length, short.ran], [20, {}])
})

describe('a sender for whom no thread did the work', () => {
  for (const { why, heavyLimits, status, reason, retryAfter } of [
    { why: 'many bodies wait', heavyLimits: { waitingMax: 0 }, status: 429, reason: 'work_limited', retryAfter: '1' },
    { why: 'it waited too long', heavyLimits: { waitMs: -1 }, status: 503, reason: 'overloaded', retryAfter: '1' },
    { why: 'it took too long', heavyLimits: { runMs: 0 }, status: 503, reason: 'work_timed_out', retryAfter: null },
  ])
    test(`gets ${status} ${reason} because ${why}, and nothing is stored`, async () => {
      const node = await aWorld({ beside: world, env: { LOG_LEVEL: 'silent' }, heavyLimits })
      const headers = { 'content-type': 'application/json', 'idempotency-key': reason }
      try {
        const { pathname } = new URL(world.endpoint)
        const answer = await fetch(`${node.baseUrl}${pathname}`, { method: 'POST', headers, body: large('') })
        assert.deepEqual([answer.status, answer.headers.get('retry-after')], [status, retryAfter])
        assert.equal(Object(await answer.json()).reason, reason)
      } finally {
        await node.stop()
      }
      assert.equal((await post(world.endpoint, large(''), { headers })).status, 201)
    })
})
