import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import * as fc from 'fast-check'
import { decodeBody, type Decoded } from './decode-body.ts'

const decode = async (body: string | Buffer, contentType?: string): Promise<Decoded> =>
  decodeBody({ body: Buffer.from(body), contentType, depthMax: 128 })

async function payload(body: string | Buffer, contentType?: string): Promise<unknown> {
  const decoded = await decode(body, contentType)
  assert.ok(decoded.ok, decoded.ok ? '' : decoded.error)
  return decoded.payload
}

async function refusal(body: string | Buffer, contentType?: string): Promise<readonly [string, string]> {
  const decoded = await decode(body, contentType)
  assert.ok(!decoded.ok)
  return [decoded.reason, decoded.error]
}

const formOf = (count: number): string => Array.from({ length: count }, (_, at) => `k${at}=v`).join('&')

const FORM = 'application/x-www-form-urlencoded'

describe('JSON', () => {
  test('the text is exactly the received text: spaces, duplicate keys, escapes, big numbers', async () => {
    const text = ' { "a" : 12345678901234567890, "a":1.0e3,"z":"\\u00e9\\u0000 é" }\n'
    const decoded = await decode(text, 'application/json; charset=utf-8')
    assert.ok(decoded.ok)
    assert.equal(decoded.text, text)
  })

  test('a body of any other content type is read as JSON, without a promise', () => {
    for (const contentType of [
      undefined,
      '',
      'application/json',
      'text/plain',
      'application/vnd.github+json',
      'multipart/mixed; boundary=x',
      'nonsense',
    ]) {
      assert.deepEqual(decodeBody({ body: Buffer.from('{"a":1}'), contentType, depthMax: 128 }), {
        ok: true,
        payload: { a: 1 },
        text: '{"a":1}',
        asSent: true,
      })
    }
  })

  test('the text is the body byte for byte, unless the body has a byte order mark', async () => {
    for (const [body, asSent] of [
      [' {"a":"é"}\n', true],
      ['\uFEFF{}', false],
    ] as const) {
      const decoded = await decode(body)
      assert.ok(decoded.ok)
      assert.equal(decoded.asSent, asSent)
    }
    const form = await decode('a=1', FORM)
    assert.ok(form.ok && !form.asSent)
  })

  test('any JSON value is a payload', async () => {
    for (const text of ['null', '1', '"x"', '[]', 'false']) assert.deepEqual(await payload(text), JSON.parse(text))
  })

  test('an empty body and a body of only whitespace are empty_body', async () => {
    for (const text of ['', ' ', '\r\n\t ', '\uFEFF', '\uFEFF\n']) assert.equal((await refusal(text))[0], 'empty_body')
    assert.equal((await refusal('', FORM))[0], 'empty_body')
    assert.equal((await refusal('', 'multipart/form-data; boundary=x'))[0], 'empty_body')
  })

  test('a body that is not JSON or not UTF-8 is invalid_body', async () => {
    for (const [body, sentence] of [
      ['{"a":}', /line 1, column 6/],
      [Buffer.from([0x22, 0xff, 0x22]), /not UTF-8/],
      [Buffer.from([0xc0, 0x80]), /not UTF-8/],
      [Buffer.from('"\ud83d"', 'utf16le'), /not (?:UTF-8|valid JSON)/],
      ['\uFEFF\uFEFF{}', /not valid JSON/],
      ['{}\uFEFF', /not valid JSON/],
      [Buffer.from('\uFEFF{}', 'utf16le'), /is UTF-16/],
      ['['.repeat(100_000), /levels deep/],
      ['\u00a0', /not valid JSON/],
    ] as const) {
      const [reason, error] = await refusal(body)
      assert.equal(reason, 'invalid_body')
      assert.match(error, sentence)
    }
  })
})

describe('urlencoded', () => {
  test('pairs become an object, repeated keys a list', async () => {
    assert.deepEqual(await payload('a=1&b=two+words&a=2&c=%C3%A9&d&=e&a=3', FORM), {
      a: ['1', '2', '3'],
      b: 'two words',
      c: 'é',
      d: '',
      '': 'e',
    })
    assert.deepEqual(await payload('a=1%2B1=2&&b=ü', `${FORM}; charset=UTF-8`), { a: '1+1=2', b: 'ü' })
  })

  test('a[b] and a[] are ordinary names', async () => {
    assert.deepEqual(await payload('a[b]=1&a[]=2&a[]=3&a.b=4', FORM.toUpperCase()), {
      'a[b]': '1',
      'a[]': ['2', '3'],
      'a.b': '4',
    })
  })

  test('the text is the JSON of the object; NUL is escaped; __proto__ is only a key', async () => {
    const decoded = await decode('__proto__=x&__proto__=y&constructor=z&n=%00', FORM)
    assert.ok(decoded.ok)
    assert.equal(decoded.text, '{"__proto__":["x","y"],"constructor":"z","n":"\\u0000"}')
    assert.equal(Object.getPrototypeOf(decoded.payload), Object.prototype)
  })

  test('a malformed percent sequence refuses the form', async () => {
    for (const body of ['a=%', 'a=%4', 'a=%zz', '%=1', 'a=%ff', 'a=%C3', 'a=1&b=%E0%A4%A']) {
      const [reason, error] = await refusal(body, FORM)
      assert.equal(reason, 'invalid_body')
      assert.match(error, /not a well-formed form encoding/)
    }
  })

  test('1,000 keys are accepted and one more is refused, and a repeated key counts once', async () => {
    assert.equal(Object.keys((await payload(formOf(1000), FORM)) as object).length, 1000)
    assert.match((await refusal(formOf(1001), FORM))[1], /more than 1000 keys/)
    assert.deepEqual(await payload('a=1&'.repeat(5000), FORM), { a: Array(5000).fill('1') })
  })

  test('the output of URLSearchParams is read without loss', async () => {
    const pairs = fc.array(fc.tuple(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'grapheme' })), {
      minLength: 1,
      maxLength: 8,
    })
    await fc.assert(
      fc.asyncProperty(pairs, async (list) => {
        const params = new URLSearchParams(list)
        const expected = new Map<string, string[]>()
        for (const [key, text] of list) expected.set(key, [...(expected.get(key) ?? []), text])
        const read = (await payload(params.toString(), FORM)) as Record<string, unknown>
        assert.deepEqual(new Set(Object.keys(read)), new Set(expected.keys()))
        for (const [key, texts] of expected) assert.deepEqual(read[key], texts.length === 1 ? texts[0] : texts)
      }),
      { numRuns: 200 },
    )
  })
})

const part = (headers: string, body: string): string => `--AaB03x\r\n${headers}\r\n\r\n${body}\r\n`

const fieldIn = (headers: string, text: Buffer): Promise<unknown> => {
  const [before, after] = part(`Content-Disposition: form-data; name="a"\r\n${headers}`, '|').split('|')
  return payload(
    Buffer.concat([Buffer.from(before ?? ''), text, Buffer.from(`${after}--AaB03x--\r\n`)]),
    'multipart/form-data; boundary=AaB03x',
  )
}

describe('multipart', () => {
  const TYPE = 'multipart/form-data; boundary=AaB03x'
  const field = (name: string, body: string): string => part(`Content-Disposition: form-data; name="${name}"`, body)
  const END = '--AaB03x--\r\n'
  const GOOD =
    field('a', 'one') +
    part('Content-Disposition: form-data; name="f"; filename="x.bin"\r\nContent-Type: image/png', 'B\r\n') +
    field('a', 'Zoë') +
    END

  test('fields are strings, files are described, repeated names are lists, in the order of the body', async () => {
    const decoded = await decode(GOOD, TYPE)
    assert.ok(decoded.ok)
    assert.equal(
      decoded.text,
      '{"a":["one","Zoë"],"f":{"filename":"x.bin","content_type":"image/png","size":3,"base64":"Qg0K"}}',
    )
  })

  test('the output of FormData is read without loss, with files of any bytes and size', async () => {
    const form = new FormData()
    const bytes = Buffer.from(Array.from({ length: 300_000 }, (_, at) => (at * 7) % 256))
    form.append('big', new Blob([bytes], { type: 'application/pdf' }), 'ü "q".pdf')
    form.append('note', 'x\r\ny')
    form.append('empty', '')
    form.append('none', new Blob([]), 'none.txt')
    const request = new Request('http://localhost/', { method: 'POST', body: form })
    const read = (await payload(
      Buffer.from(await request.arrayBuffer()),
      request.headers.get('content-type') ?? '',
    )) as Record<string, Record<string, unknown>>
    assert.deepEqual(Object.keys(read), ['big', 'note', 'empty', 'none'])
    assert.equal(read['big']?.['size'], 300_000)
    assert.equal(read['big']?.['base64'], bytes.toString('base64'))
    assert.equal(read['note'], 'x\r\ny')
    assert.equal(read['empty'], '')
    assert.equal(read['none']?.['size'], 0)
  })

  test('__proto__ and a[b] are only names', async () => {
    const decoded = await decode(field('__proto__', 'x') + field('a[b]', 'y') + END, TYPE)
    assert.ok(decoded.ok)
    assert.equal(decoded.text, '{"__proto__":"x","a[b]":"y"}')
  })

  test('a field is read in the charset of its part, or in UTF-8 when the part names none', async () => {
    for (const text of ['плохо', 'é', 'Zoë ☃', 'こんにちは', '']) {
      for (const contentType of [
        'X-Other: charset=latin1',
        'Content-Type: text/plain',
        'Content-Type: text/plain; charset=utf-8',
        'content-type:text/plain;format=flowed;Charset="UTF-8"',
      ]) {
        assert.deepEqual(await fieldIn(contentType, Buffer.from(text)), { a: text })
      }
    }
    assert.deepEqual(await fieldIn('Content-Type: text/plain; charset=iso-8859-1', Buffer.from('Zoë', 'latin1')), {
      a: 'Zoë',
    })
    assert.deepEqual(await fieldIn('Content-Type: text/plain; charset=utf-16le', Buffer.from('Zoë ☃', 'utf16le')), {
      a: 'Zoë ☃',
    })
  })

  test('a body that cannot be read completely is refused with a sentence', async () => {
    for (const [body, type, sentence] of [
      [GOOD, 'multipart/form-data', /no boundary/],
      [GOOD, 'multipart/form-data; boundary=', /no boundary/],
      [GOOD, 'multipart/form-data; boundary=other', /ends too early/],
      [END, TYPE, /no parts/],
      ['{"a":1}', TYPE, /ends too early/],
      [part('Content-Disposition: form-data', 'x') + END, TYPE, /no name/],
      [part('Content-Type: text/plain', 'x') + field('a', '1') + END, TYPE, /not form data/],
      [part('Content-Disposition: attachment; name="a"', 'x') + field('a', '1') + END, TYPE, /not form data/],
      [field('a', '1') + '--AaB03x\r\n' + END, TYPE, /not form data/],
      [
        Buffer.concat([
          Buffer.from('--AaB03x\r\nContent-Disposition: form-data; name="a"\r\n\r\n'),
          Buffer.from([0xff]),
          Buffer.from(`\r\n${END}`),
        ]),
        TYPE,
        /not UTF-8/,
      ],
      [
        part('Content-Disposition: form-data; name="a"\r\nContent-Type: text/plain; charset=base64', 'eA==') + END,
        TYPE,
        /cannot be read as base64/,
      ],
      [Buffer.from(field('\u00ff', '1') + END, 'latin1'), TYPE, /name of a part is not UTF-8/],
      [
        Buffer.from(part('Content-Disposition: form-data; name="a"; filename="\u00ff"', '1') + END, 'latin1'),
        TYPE,
        /name of a part is not UTF-8/,
      ],
      [field('a', '1').repeat(101) + END, TYPE, /more than 100 parts/],
      [field('a', '1').repeat(100_000), TYPE, /more than 100 parts/],
    ] as const) {
      const [reason, error] = await refusal(body, type)
      assert.equal(reason, 'invalid_body')
      assert.match(error, sentence)
    }
    assert.deepEqual(await payload(field('a', '1').repeat(100) + END, TYPE), { a: Array(100).fill('1') })
  })

  test('a body that is cut anywhere before its closing delimiter is refused', async () => {
    const bytes = Buffer.from(GOOD)
    const whole = bytes.length - '\r\n'.length
    for (let end = 0; end < whole; end += 1)
      assert.ok(!(await decode(bytes.subarray(0, end), TYPE)).ok, `cut at ${end}`)
    assert.ok((await decode(bytes.subarray(0, whole), TYPE)).ok)
  })

  test('a body that is damaged in any way gets an answer, and no error escapes', { timeout: 30_000 }, async () => {
    const junk = fc.constantFrom(
      '',
      '\r\n',
      '--AaB03x',
      '--',
      '\r\n\r\n',
      ':',
      '"',
      ';',
      '\0',
      'filename=',
      '\r\n--AaB03x--',
    )
    const damage = fc.array(fc.tuple(fc.nat(GOOD.length), junk, fc.nat(6)), { minLength: 1, maxLength: 4 })
    await fc.assert(
      fc.asyncProperty(damage, async (wounds) => {
        let text = GOOD
        for (const [at, insert, drop] of wounds) text = text.slice(0, at) + insert + text.slice(at + drop)
        const decoded = await decode(text, TYPE)
        assert.ok(decoded.ok || decoded.reason === 'invalid_body' || text === '')
      }),
      { numRuns: 500 },
    )
  })
})
