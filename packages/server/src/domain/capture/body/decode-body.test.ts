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

  test('a percent sign that starts no escape is itself', async () => {
    for (const [body, fields] of [
      ['a=%', { a: '%' }],
      ['a=%4', { a: '%4' }],
      ['a=%zz+%41', { a: '%zz A' }],
      ['%=1', { '%': '1' }],
      ['a=100%&b=%C3%A9', { a: '100%', b: 'é' }],
    ] as const)
      assert.deepEqual(await payload(body, FORM), fields, body)
  })

  test('a form is read in the charset of its content type, then of its own fields, then in UTF-8, then in windows-1252', async () => {
    for (const [body, type, fields] of [
      ['a=%E9&a=%C3%A9', FORM, { a: ['é', 'é'] }],
      ['n%E4me=%80', FORM, { näme: '€' }],
      ['a=%E9', `${FORM}; charset=iso-8859-1`, { a: 'é' }],
      ['a=%82%A0', `${FORM};charset="Shift_JIS"`, { a: 'あ' }],
      ['a=%E9&charset=utf-8', `${FORM}; charset=iso-8859-5`, { a: 'щ', charset: 'utf-8' }],
      [
        '_charset_=iso-8859-2&charset=windows-1252&a=%B1',
        FORM,
        { _charset_: 'iso-8859-2', charset: 'windows-1252', a: 'ą' },
      ],
      [
        'payment_status=Completed&charset=windows-1252&first_name=Ren%E9',
        FORM,
        { payment_status: 'Completed', charset: 'windows-1252', first_name: 'René' },
      ],
      ['a=%C3%A9&charset=gb18030&b=%C4%E3', FORM, { a: '茅', charset: 'gb18030', b: '你' }],
      ['charsets=%7B%22a%22%3A%22koi8-r%22%7D&a=%C1&b=%C3%A1', FORM, { charsets: '{"a":"koi8-r"}', a: 'а', b: 'á' }],
      // A charset that is unknown, that is not one of forms, or that the bytes are not in, says nothing.
      ['a=%C3%A9&charset=utf8mb4', FORM, { a: 'é', charset: 'utf8mb4' }],
      ['a=%C3%A9', `${FORM}; charset=us-ascii`, { a: 'é' }],
      ['a=%C3%A9', `${FORM}; charset=utf-16`, { a: 'é' }],
      ['a=%E9', `${FORM}; charset=utf-8`, { a: 'é' }],
      ['a=%C3%A9&charsets=%7B', FORM, { a: 'é', charsets: '{' }],
    ] as const)
      assert.deepEqual(await payload(body, type), fields, body)
    assert.deepEqual(await payload(Buffer.from('a=Ren\u00e9&b=1', 'latin1'), FORM), { a: 'René', b: '1' })
    assert.deepEqual(await payload('\uFEFFa=%E9', FORM), { a: 'é' })
  })

  test('a decoder that refused bytes reads the next ones', async () => {
    const type = `${FORM}; charset=shift_jis`
    assert.deepEqual(await payload('a=%82', type), { a: '‚' })
    assert.deepEqual(await payload('a=%82%A0', type), { a: 'あ' })
  })

  test('an object or a list of JSON as a whole is JSON, as curl sends it without a content type', async () => {
    for (const [body, asSent] of [
      ['{"a":1,"b":"x&y=z"}', true],
      [' [{"a":"50%"}]\n', true],
      ['\uFEFF{"a":12345678901234567890}', false],
    ] as const) {
      const decoded = await decode(body, FORM)
      assert.ok(decoded.ok)
      assert.deepEqual([decoded.text, decoded.asSent], [body.replace('\uFEFF', ''), asSent])
    }
    assert.deepEqual(await payload('{"a":1', FORM), { '{"a":1': '' })
    assert.deepEqual(await payload('"x"', FORM), { '"x"': '' })
    assert.deepEqual(await payload('{a}=1', FORM), { '{a}': '1' })
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
      [field('a', '1').repeat(101) + END, TYPE, /more than 100 parts/],
      [field('a', '1').repeat(100_000), TYPE, /more than 100 parts/],
    ] as const) {
      const [reason, error] = await refusal(body, type)
      assert.equal(reason, 'invalid_body')
      assert.match(error, sentence)
    }
    assert.deepEqual(await payload(field('a', '1').repeat(100) + END, TYPE), { a: Array(100).fill('1') })
  })

  test('no byte of a field, a name or a file name refuses the body', async () => {
    const file = (name: string) => part(`Content-Disposition: form-data; name="f"; ${name}`, 'x') + END
    const names = async (body: Buffer) => ((await payload(body, TYPE)) as { f: { filename: string } }).f.filename
    assert.deepEqual(
      await payload(Buffer.from(field('\u00ff', '\u00e9') + field('b', '\u00c3\u00a9') + END, 'latin1'), TYPE),
      {
        ÿ: 'é',
        b: 'é',
      },
    )
    assert.equal(await names(Buffer.from(file('filename="Ren\u00e9 \u0080.pdf"'), 'latin1')), 'René €.pdf')
    assert.equal(await names(Buffer.from(file('filename="\uFFFD.pdf"'))), '\uFFFD.pdf')
    assert.equal(await names(Buffer.from(file(`filename*=UTF-8''%e2%82%ac.pdf`))), '€.pdf')
    for (const odd of [
      `filename*=UTF-8''%ff%zz.pdf`,
      `filename*=nonsense''a.pdf`,
      'filename=""',
      'filename="a\\"b.pdf"',
      'filename="a%22.pdf"',
      'filename=a b.pdf',
    ])
      assert.ok((await decode(file(odd), TYPE)).ok, odd)
    assert.deepEqual(await fieldIn('Content-Type: text/plain; charset=base64', Buffer.from('eA==')), { a: 'eA==' })
  })

  test('a field is read in the charset that charsets, charset or the content type of the form names', async () => {
    const text = (bytes: number[], more: string, type = TYPE) =>
      payload(
        Buffer.concat([
          Buffer.from('--AaB03x\r\nContent-Disposition: form-data; name="text"\r\n\r\n'),
          Buffer.from(bytes),
          Buffer.from(`\r\n${more}${END}`),
        ]),
        type,
      )
    const grüße = [0x47, 0x72, 0xfc, 0xdf, 0x65]
    const charsets = '{"to":"UTF-8","text":"iso-8859-1"}'
    assert.deepEqual(await text(grüße, field('charsets', charsets)), { text: 'Grüße', charsets })
    assert.deepEqual(await text([0xe9], field('charsets', '{"text":"iso-8859-5"}')), {
      text: 'щ',
      charsets: '{"text":"iso-8859-5"}',
    })
    assert.deepEqual(await text([0xe9], field('charset', 'koi8-r')), { text: 'И', charset: 'koi8-r' })
    assert.deepEqual(await text([0xe9], field('_charset_', 'koi8-r')), { text: 'И', _charset_: 'koi8-r' })
    assert.deepEqual(await text([0xe9], '', `${TYPE}; charset=koi8-r`), { text: 'И' })
    assert.deepEqual(await text([0xe9], ''), { text: 'é' })
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

const text = (body: string | Buffer, contentType?: string, byLine = false) =>
  decodeBody({ body: Buffer.from(body), contentType, depthMax: 128, reading: { as: 'text', byLine } })

const readAsText = async (...of: Parameters<typeof text>) => {
  const decoded = await text(...of)
  assert.ok(decoded.ok)
  assert.deepEqual(JSON.parse(decoded.text), decoded.payload)
  return decoded.payload
}

describe('a body that an endpoint reads as text', () => {
  test('becomes its text, whatever its content type, in the charset that it names', async () => {
    assert.equal(await readAsText('<a><b>1</b></a>', 'text/xml'), '<a><b>1</b></a>')
    assert.equal(await readAsText('a=1&b=2', FORM), 'a=1&b=2')
    assert.equal(await readAsText(Buffer.from([0xe9, 0, 0x0a]), 'text/plain; charset=iso-8859-5'), 'щ\0\n')
    assert.equal(await readAsText(Buffer.from([0x80])), '€')
    assert.equal(await readAsText(Buffer.from('\uFEFFé')), 'é')
    assert.equal(await readAsText(Buffer.from('\uFEFFé', 'utf16le'), 'text/plain; charset=utf-8'), 'é')
    assert.deepEqual(await readAsText('one\r\n\n two \n', 'text/plain', true), ['one', ' two '])
    assert.ok(!(await text(' \n')).ok)
  })
})

const lines = async (body: string | Buffer, contentType?: string) => {
  const decoded = await decodeBody({
    body: Buffer.from(body),
    contentType,
    depthMax: 128,
    reading: { as: 'contract', byLine: true },
  })
  assert.ok(decoded.ok && !decoded.asSent)
  return decoded.text
}

describe('a body of lines', () => {
  test('becomes the list of its lines, and a line that is not JSON is its text', async () => {
    for (const [body, items] of [
      ['{"a":1}\n{"a":2}\n', '[{"a":1},{"a":2}]'],
      ['{"a":12345678901234567890}\r\n\r\n[1]\r\n"x"', '[{"a":12345678901234567890},[1],"x"]'],
      ['{"a":1}\n{"a":\nplain text\n2', '[{"a":1},"{\\"a\\":","plain text",2]'],
      ['{\n  "a": 1\n}', '[{"a":1}]'],
      ['{"a":1}', '[{"a":1}]'],
    ] as const)
      assert.equal(await lines(body, 'application/x-ndjson'), items)
    assert.equal(await lines(Buffer.from('{"a":1}\nRen\u00e9', 'latin1')), '[{"a":1},"René"]')
    assert.equal(await lines('a=1&b=2', FORM), '[{"a":"1","b":"2"}]')
  })

  test('that came as a form is lines too when it starts as JSON', async () => {
    assert.equal(await lines('{"a":1}\n{"a":2}', FORM), '[{"a":1},{"a":2}]')
  })
})
