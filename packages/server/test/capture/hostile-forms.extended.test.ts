import assert from 'node:assert/strict'
import { afterEach, describe, test } from 'node:test'
import { aDestination, filedText, post, type Posting } from '../stage/fixtures.ts'
import type { Answer, Sink, World } from '../stage/harness.ts'
import { onWorldStage } from '../stage/world-stage.ts'

/** Hostile forms, multipart bodies and content types get 201 or 400, and never cause a 5xx. */
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

const keysOf = (count: number): string => Array.from({ length: count }, (_, at) => `k${at}=`).join('&')

describe('urlencoded abuse', () => {
  const type = 'application/x-www-form-urlencoded'

  test('more than 1,000 keys get 400; any number of values of one key that fit get 201', async () => {
    await accepted(keysOf(1_000), { type })
    await refused(keysOf(1_001), 'invalid_body', { type })
    await refused(keysOf(100_000), 'invalid_body', { type })
    await accepted('a&'.repeat(500_000), { type })
    await accepted(`x=1${'&'.repeat(1_000_000)}`, { type })
  })

  test('brackets, prototypes and empty names are plain names', async () => {
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

  test('invalid percent sequences are data, and bytes that are not UTF-8 are windows-1252', async () => {
    for (const [body, fields] of [
      ['a=%', { a: '%' }],
      ['a=%2', { a: '%2' }],
      ['a=%zz', { a: '%zz' }],
      ['%=1', { '%': '1' }],
      ['a=%u0041', { a: '%u0041' }],
      ['a=%c0%80', { a: 'À€' }],
      ['a=%ed%a0%80', { a: 'í\u00a0€' }],
      ['a=%ff', { a: 'ÿ' }],
    ] as const)
      assert.deepEqual(JSON.parse(await filedText(world, await accepted(body, { type }))), fields, body)
    await accepted(`${'a&'.repeat(500_000)}%`, { type })
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

  test('a missing, empty or unused boundary gets 400', async () => {
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

  test('a body that is cut at any byte gets 400, and the whole body gets 201', async () => {
    const body = `${field('a')}${part('Content-Disposition: form-data; name="f"; filename="x"\r\nContent-Type: text/plain')}--b--`
    await accepted(body, { type })
    for (let end = 1; end < body.length; end += 1) {
      const answer = await post(world.endpoint, body.slice(0, end), { type })
      assert.equal(answer.status, 400, `cut at ${end} of ${body.length}: ${JSON.stringify(answer.body)}`)
    }
  })

  test('a hundred parts are accepted; a hundred and one, and 10^5, get 400', async () => {
    await accepted(fields(100), { type })
    await refused(fields(101), 'invalid_body', { type })
    await refused(`${'--b\r\n\r\n\r\n'.repeat(100_000)}--b--\r\n`, 'invalid_body', { type })
    await refused(fields(50_000), 'invalid_body', { type })
  })

  test('a body with only a closing delimiter, only a preamble or no part gets 400', async () => {
    for (const body of ['--b--', '--b--\r\n', 'preamble only', '--b', '\r\n--b\r\n', '--b\r\n--b--'])
      await refused(body, 'invalid_body', { type })
  })

  test('parts with no name, no headers or invalid headers get 400', async () => {
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

  test('field names and file names are data, whatever their form and length', async () => {
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

  test('a boundary inside data, nested multipart and a text field of a mebibyte stay data', async () => {
    const big = 'x'.repeat(1_048_576)
    const body = `${field('inside', 'a --b b\r\n-b--b-- c')}${part('Content-Disposition: form-data; name="nested"; filename="n"\r\nContent-Type: multipart/mixed; boundary=c', '--c\r\n\r\nx\r\n--c--')}${field('big', big)}--b--\r\n`
    const data = JSON.parse(await filedText(world, await accepted(body, { type })))
    assert.equal(data.inside, 'a --b b\r\n-b--b-- c')
    assert.equal(Buffer.from(data.nested.base64, 'base64').toString(), '--c\r\n\r\nx\r\n--c--')
    assert.equal(data.big.length, big.length)
  })

  test('a text field that is not UTF-8 is windows-1252', async () => {
    const [head = '', tail = ''] = `${field('a', '|')}--b--\r\n`.split('|')
    const answer = await post(world.endpoint, new Uint8Array([...Buffer.from(head), 0xff, ...Buffer.from(tail)]), {
      type,
    })
    assert.equal(await filedText(world, answer), '{"a":"ÿ"}')
  })
})

describe('content types and encodings', () => {
  test('hostile content types are read as JSON or refused, and never cause a 5xx', async () => {
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

  test('an unsupported encoding gets 415 before the body is examined', async () => {
    for (const encoding of ['compress', 'nonsense', 'identity, compress', 'x'.repeat(1_000)]) {
      const answer = await post(world.endpoint, '{"a":1}', { headers: { 'content-encoding': encoding } })
      assert.deepEqual([answer.status, answer.body.reason], [415, 'unsupported_encoding'], encoding.slice(0, 60))
    }
    for (const encoding of ['identity', 'IDENTITY', ' identity ']) {
      assert.equal((await post(world.endpoint, '{"a":1}', { headers: { 'content-encoding': encoding } })).status, 201)
    }
  })
})
