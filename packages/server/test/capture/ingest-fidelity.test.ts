import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { aDestination, anIngestKey, aRule, aWebhook, filedText, post, submissionOf } from '../stage/fixtures.ts'
import type { Answer, Sink, World } from '../stage/harness.ts'
import { onWorldStage } from '../stage/world-stage.ts'

/** An unmapped JSON payload is stored and delivered as the text that the sender sent (decisions on fidelity). */
let world: World
let sink: Sink

onWorldStage(
  async (made) => {
    ;({ world, sink } = made)
    await aDestination(world, { url: sink.url, max_in_flight: 64 })
  },
  { loops: [] },
)

/** The text of `data` in the delivery. */
async function deliveredText(accepted: Answer): Promise<string> {
  const { id, dataset } = accepted.body.records[0]
  await world.idle()
  const received = sink.received.find((request) => request.headers['service-event-id'] === id)
  assert.ok(received !== undefined, 'it was delivered')
  const head = `{"id":"${id}","dataset":"${dataset}","received_at":"${accepted.body.received_at}","data":`
  assert.ok(received.body.startsWith(head) && received.body.endsWith('}'), received.body.slice(0, 200))
  return received.body.slice(head.length, -1)
}

const TEXTS: Readonly<Record<string, string>> = {
  'an integer beyond 2^53': '{"id":9007199254740993}',
  'an integer of 40 digits': '{"id":1234567890123456789012345678901234567890}',
  'a number beyond the doubles': '[1e400,-1e400,1E-400]',
  'zeros at the end of a fraction': '{"price":1.10,"rate":0.1000000000000000055511151231257827}',
  'a negative zero': '[-0,-0.0,0e0]',
  'an exponent as it is written': '[1e3,1E+3,1.0e3]',
  'duplicate keys, in their order': '{"a":1,"b":2,"a":3}',
  'keys that look like numbers, in their order': '{"b":1,"10":2,"9":3,"a":4}',
  'escapes as they are written': String.raw`{"s":"\u0041\/\u00e9é\t\ud83d\ude00😀"}`,
  'a NUL escape': String.raw`{"s":"a\u0000b","\u0000":1}`,
  'lone surrogate escapes': String.raw`["\ud800","\udfff\ud800","\uDEAD"]`,
  'an empty key': '{"":{"":[]}}',
  'keys of prototypes': '{"__proto__":{"a":1},"constructor":{"prototype":{"b":2}},"toString":null}',
  'whitespace of every kind': ' \t\r\n{ "a" :\t[ 1 ,\n2 ] }\r\n ',
  'a bare string': '"text"',
  'a bare number': '12345678901234567890',
  null: 'null',
  'line separators and controls beyond ASCII': '["\u2028\u2029\u007f\u0085\ufeff"]',
  noncharacters: '["\uffff\u{10ffff}"]',
}

for (const [name, text] of Object.entries(TEXTS)) {
  test(`the text is unchanged from the request to the delivery: ${name}`, async () => {
    const answer = await post(world.endpoint, text)
    assert.equal(answer.status, 201)
    assert.equal((await submissionOf(world, answer.body.id)).body, text)
    assert.equal(await filedText(world, answer), text)
    assert.equal(await deliveredText(answer), text)
  })
}

test('the text is unchanged by every form that stores a payload whole', async () => {
  const text = ' {"b":1e400, "a":12345678901234567890, "b":1.0} '
  const { key } = await anIngestKey(world)
  await aRule(world, { dataset: 'whole' })
  await aWebhook(world, { slug: 'whole', dataset: 'whole' })
  for (const path of [`/v1/ingest/${key}`, `/v1/ingest/${key}/whole`, `/v1/webhooks/${key}/whole`]) {
    const answer = await post(world.baseUrl + path, text)
    assert.equal(await filedText(world, answer), text)
    assert.equal(await deliveredText(answer), text)
  }
})

test('any JSON text leaves exactly as it came in', async () => {
  const samples = fc.sample(fc.json({ maxDepth: 6, stringUnit: 'binary' }), { numRuns: 60, seed: 4_680 })
  for (const text of samples) {
    const answer = await post(world.endpoint, text)
    assert.equal(answer.status, 201, text)
    // UTF-8 cannot contain a lone surrogate, so the test compares with the encoded replacement.
    assert.equal(await filedText(world, answer), Buffer.from(text).toString())
  }
})

test('mapped payloads preserve big numbers, also inside objects and lists that a mapping copies', async () => {
  const { public_url } = await aWebhook(world, {
    dataset: 'mapped',
    mappings: [
      { target: 'id', path: 'id' },
      { target: 'as_text', path: 'id', transform: 'string' },
      { target: 'as_number', path: 'text', transform: 'number' },
      { target: 'deep', path: 'deep' },
      { target: 'list.1', path: 'huge' },
    ],
  })
  const answer = await post(
    public_url,
    '{"id":12345678901234567890,"text":" 98765432109876543210.10 ","deep":{"b":[1.10,-0],"a":{"10":1e400}},"huge":1e999}',
  )
  const expected =
    '{"id":12345678901234567890,"as_text":"12345678901234567890","as_number":98765432109876543210.10,' +
    '"deep":{"b":[1.10,-0],"a":{"10":1e400}},"list":[null,1e999]}'
  assert.equal(await filedText(world, answer), expected)
  assert.equal(await deliveredText(answer), expected)
})

test('mapped lone surrogates and NULs leave as escapes', async () => {
  const { public_url } = await aWebhook(world, { mappings: [{ target: 's', path: 's' }] })
  const answer = await post(public_url, String.raw`{"s":"a\u0000\ud800"}`)
  assert.equal(await filedText(world, answer), String.raw`{"s":"a\u0000\ud800"}`)
  assert.equal(await deliveredText(answer), String.raw`{"s":"a\u0000\ud800"}`)
})

test('a byte order mark before JSON is signed and stored as it came, and is not part of the payload', async () => {
  const webhook = await aWebhook(world, { verification: { scheme: 'hmac', secret: 'k' }, dataset: 'marked' })
  const body = '\ufeff{ "a": 1.10 }\n'
  const headers = { 'X-Signature': createHmac('sha256', 'k').update(body).digest('hex') }
  const accepted = await post(webhook.public_url, body, { headers })
  assert.equal(accepted.status, 201)
  assert.equal((await submissionOf(world, accepted.body.id)).body, body)
  assert.equal(await filedText(world, accepted), '{ "a": 1.10 }\n')
  assert.equal(await deliveredText(accepted), '{ "a": 1.10 }\n')
  const packed = new Uint8Array(gzipSync(body))
  const inflated = await post(world.endpoint, packed, { headers: { 'content-encoding': 'gzip' } })
  assert.equal(await filedText(world, inflated), '{ "a": 1.10 }\n')
})
