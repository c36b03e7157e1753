import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { decodeBody, type Decoded } from './decode-body.ts'
import { readXml } from './read-xml.ts'

function xml(text: string): unknown {
  const read = readXml(text, 128)
  assert.ok(read.ok, read.ok ? '' : read.error)
  return read.value
}

function fault(text: string): string {
  const read = readXml(text, 128)
  assert.ok(!read.ok)
  return read.error
}

const nested = (levels: number) => '<a>'.repeat(levels) + '</a>'.repeat(levels)

const decodedXml = async (body: Buffer, contentType = 'text/xml'): Promise<Decoded> =>
  decodeBody({ body, contentType, depthMax: 128, reading: { as: 'xml', byLine: false } })

describe('XML', () => {
  test('becomes an object with the root element, and an element with only text is this text', () => {
    assert.deepEqual(xml('<a><b>1</b></a>'), { a: { b: '1' } })
    assert.deepEqual(xml('<?xml version="1.0"?><!-- c --><a>007</a>\n'), { a: '007' })
    assert.deepEqual(xml('<a><b/><c></c><d> </d></a>'), { a: { b: '', c: '', d: ' ' } })
  })

  test('attributes become @name, a list where a name repeats, and the text between elements as #text', () => {
    assert.deepEqual(xml('<a id="1" id2="x &amp; y"><b>1</b><b>2</b><c/></a>'), {
      a: { '@id': '1', '@id2': 'x & y', b: ['1', '2'], c: '' },
    })
    assert.deepEqual(xml('<p lang="en"> kept </p>'), { p: { '@lang': 'en', '#text': ' kept ' } })
    assert.deepEqual(xml('<p>\n one <b>two</b> three\n</p>'), { p: { b: 'two', '#text': 'one  three' } })
  })

  test('prefixes remain, and CDATA and the entities of XML become text', () => {
    assert.deepEqual(
      xml(
        '<s:Envelope xmlns:s="http://schemas.xmlsoap.org/soap/envelope/"><s:Body><m:Get xmlns:m="urn:m">x</m:Get></s:Body></s:Envelope>',
      ),
      {
        's:Envelope': {
          '@xmlns:s': 'http://schemas.xmlsoap.org/soap/envelope/',
          's:Body': { 'm:Get': { '@xmlns:m': 'urn:m', '#text': 'x' } },
        },
      },
    )
    assert.deepEqual(xml('<a>1<![CDATA[<b>&amp;]]>2 &lt;&gt;&quot;&apos;&#233;&#x20ac;</a>'), {
      a: `1<b>&amp;2 <>"'é€`,
    })
  })

  test('only the entities of XML count: a document type declares nothing, and nothing is fetched', () => {
    const bomb = `<!DOCTYPE l [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;"><!ENTITY c SYSTEM "file:///etc/passwd">]><l>&b;|&c;|&nbsp;| AT&T & x</l>`
    assert.deepEqual(xml(bomb), { l: '&b;|&c;|&nbsp;| AT&T & x' })
    assert.deepEqual(xml('<!DOCTYPE cXML SYSTEM "http://xml.cxml.org/schemas/cXML/1.2.014/cXML.dtd"><cXML a="&x;"/>'), {
      cXML: { '@a': '&x;' },
    })
  })

  test('names are only data', () => {
    const read = xml('<__proto__><constructor>1</constructor><toString hasown="1"/></__proto__>')
    assert.equal(JSON.stringify(read), '{"__proto__":{"constructor":"1","toString":{"@hasown":"1"}}}')
  })

  test('that is not well-formed is refused with the place, and never throws', () => {
    assert.equal(fault('<a><b></a>'), 'The body is not well-formed XML at line 1, column 10: Unexpected close tag.')
    for (const text of [
      'x',
      '{"a":1}',
      '<a>',
      '<a></a><b/>',
      '<a b=1/>',
      '<a',
      '<!-- only -->',
      '<a hasOwnProperty="1" b="2"/>x',
    ])
      assert.match(fault(text), /^The body is not (?:well-formed )?XML/, text)
  })

  test('may be as deep as JSON, and not deeper', () => {
    xml(nested(128))
    assert.match(fault(nested(129)), /more than 128 levels/)
    assert.match(fault('<a>'.repeat(300_000)), /more than 128 levels/)
  })

  test('of a mebibyte is read in linear work: long text, many elements, attributes and comments', () => {
    const long = 'x'.repeat(1_000_000)
    assert.deepEqual(xml(`<a b="${long}"><!--${long}--><![CDATA[${long}]]></a>`), { a: { '@b': long, '#text': long } })
    const many = xml(`<a>${'<b/>'.repeat(100_000)}</a>`) as { a: { b: unknown[] } }
    assert.equal(many.a.b.length, 100_000)
    const named = xml(`<a>${Array.from({ length: 20_000 }, (_, at) => `<b${at}/>`).join('')}</a>`) as { a: object }
    assert.equal(Object.keys(named.a).length, 20_000)
  })

  test('can be in the charset of its mark, its content type or its declaration', async () => {
    for (const [body, type] of [
      [Buffer.from('<a>é</a>'), 'text/xml'],
      [Buffer.from('<?xml version="1.0" encoding="ISO-8859-1"?><a>é</a>', 'latin1'), 'text/xml'],
      [Buffer.from('<a>é</a>', 'latin1'), 'text/xml; charset=iso-8859-1'],
      [Buffer.from('\uFEFF<?xml version="1.0" encoding="utf-16"?><a>é</a>', 'utf16le'), 'text/xml'],
      [Buffer.from('\uFEFF<a>é</a>'), 'text/xml; charset=iso-8859-1'],
    ] as const) {
      const decoded = await decodedXml(body, type)
      assert.ok(decoded.ok, type)
      assert.deepEqual([decoded.payload, decoded.text], [{ a: 'é' }, '{"a":"é"}'])
    }
    assert.deepEqual(await decodedXml(Buffer.from(' ')), { ...(await decodedXml(Buffer.alloc(0))) })
  })
})
