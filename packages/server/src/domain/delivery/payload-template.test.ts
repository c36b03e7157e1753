import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compileTemplate, type Rendered } from './payload-template.ts'

const REQUEST = {
  method: 'POST',
  path: '/v1/ingest/•••/orders',
  headers: { 'x-github-event': 'push' },
  query: { tenant: 'acme', tag: ['a', 'b'] },
}
const EVENT = {
  id: 'rec_1',
  dataset: 'orders',
  received_at: '2026-01-15T12:00:00.000Z',
  secret: 'key-1',
  request: REQUEST,
}

function rendered(template: unknown, data = '{}'): Rendered {
  const compiled = compileTemplate(template)
  if ('error' in compiled) throw new Error(compiled.error)
  return compiled.render({ ...EVENT, data })
}
function bodyOf(template: unknown, data?: string): string {
  const said = rendered(template, data)
  assert.ok(said.ok, said.ok ? '' : said.error)
  return said.body
}
const refusalOf = (template: unknown): string => {
  const compiled = compileTemplate(template)
  return 'error' in compiled ? compiled.error : ''
}

test('a string that is one {{ … }} retains the type of its value; any other string is text', () => {
  const data = '{"n":7,"flag":false,"list":[1,"a"],"deep":{"a":null},"text":"x"}'
  assert.equal(
    bodyOf(
      {
        a: '{{ data.n }}',
        b: '{{data.flag}}',
        c: '{{ data.list }}',
        d: '{{ data.deep }}',
        e: 'n={{ data.n }}',
        f: '{{ data.none }}',
        g: 'x{{ data.none }}',
        h: 5,
        i: [null, true],
      },
      data,
    ),
    '{"a":7,"b":false,"c":[1,"a"],"d":{"a":null},"e":"n=7","f":null,"g":"x","h":5,"i":[null,true]}',
  )
  assert.equal(
    bodyOf(['{{ id }} {{ dataset }} {{ received_at }}', '{{ secret }}']),
    '["rec_1 orders 2026-01-15T12:00:00.000Z","key-1"]',
  )
  assert.equal(bodyOf(['see {{ data.list }}'], data), String.raw`["see [1,\"a\"]"]`)
})

test('no digit of a number is lost, in a value or a text', () => {
  const data = '{"id":12345678901234567890,"price":1.50}'
  assert.equal(
    bodyOf(
      [
        '{{ data.id }}',
        '{{ data }}',
        '#{{ data.id }} for {{ data.price }}',
        '{{ data.price | default: 0 }}',
        '{{ data.price | plus: 1 }}',
        '{{ data.id | append: "!" }}',
      ],
      data,
    ),
    String.raw`[12345678901234567890,{"id":12345678901234567890,"price":1.50},"#12345678901234567890 for 1.50",1.50,2.5,"12345678901234567890!"]`,
  )
})

test('the listed filters work on numbers, texts and values', () => {
  const cases: readonly (readonly [string, string])[] = [
    ['{{ "Ab" | upcase }}', '"AB"'],
    ['{{ "Ab" | downcase }}', '"ab"'],
    ['{{ " a " | strip }}', '"a"'],
    ['{{ "abcdef" | truncate: 4 }}', '"a..."'],
    ['{{ "a" | append: "b" | prepend: "c" }}', '"cab"'],
    ['{{ 7 | minus: 2 | times: 3 | divided_by: 5 }}', '3'],
    ['{{ 2.4 | round }}', '2'],
    ['{{ 2.6 | floor }}', '2'],
    ['{{ 2.2 | ceil }}', '3'],
    ['{{ -2 | abs }}', '2'],
    ['{{ data.l | size }}', '2'],
    ['{{ data.l | first }}', '1'],
    ['{{ data.l | last }}', '2'],
    ['{{ "a b&c" | url_encode }}', '"a+b%26c"'],
    ['{{ "hi" | base64_encode }}', '"aGk="'],
    ['{{ data.l | json }}', '"[1,2]"'],
    ['{{ data.none | default: "d" }}', '"d"'],
  ]
  for (const [text, json] of cases) assert.equal(bodyOf([text], '{"l":[1,2]}'), `[${json}]`, text)
})

test('the content of an event is never parsed as a template', () => {
  assert.equal(
    bodyOf(['{{ data.a }}', 'x{{ data.a }}'], '{"a":"{{ secret }}{% if 1 %}"}'),
    '["{{ secret }}{% if 1 %}","x{{ secret }}{% if 1 %}"]',
  )
})

test('tags, other filters and unknown names are refused on save, with their place', () => {
  assert.equal(
    refusalOf({ a: [{ 'b/c': '{% for x in data %}{% endfor %}' }] }),
    'payload_template/a/0/b~1c: the tag "for" is not supported; a template takes {{ … }} with filters, and no tags.',
  )
  for (const tag of ['if', 'include', 'render', 'layout', 'assign', 'capture', 'raw', 'comment'])
    assert.match(refusalOf([`{% ${tag} x %}`]), /the tag ".+" is not supported/, tag)
  for (const filter of ['join', 'replace', 'date', 'split', 'map', 'where', 'sort', 'pop', 'concat', 'slice'])
    assert.equal(refusalOf([`{{ data.x | ${filter}: "a" }}`]), `payload_template/0: undefined filter: ${filter}.`)
  assert.equal(
    refusalOf({ a: '{{ payload.x }}' }),
    'payload_template/a: payload does not exist here; a template can use id, dataset, received_at, data, secret, $request.',
  )
  assert.match(refusalOf({ a: 'x {{ data.y | default: env.HOME }}' }), /env does not exist here/)
  assert.match(refusalOf({ a: '{{ data.x ' }), /^payload_template\/a: output .* not closed\.$/)
  assert.match(refusalOf({ a: 'x'.repeat(20_000) }), /16384 characters/)
  assert.match(refusalOf(Array.from({ length: 501 }, () => 'x')), /500 strings/)
})

test('no template can reach a prototype', () => {
  assert.equal(
    bodyOf(['{{ data.constructor }}', '{{ data.__proto__ }}', '{{ data.toString }}'], '{}'),
    '[null,null,null]',
  )
})

const MiB = 1_048_576
const TOO_MUCH_WORK = {
  ok: false,
  error:
    'The payload template needs more work for this record than one body can use. Use fewer filters, or apply them to smaller parts of the record.',
}
const times = (count: number, text: string): string[] => Array.from({ length: count }, () => text)
const filtered = (filter: string, count = 20): string => `{{ data.a ${`| ${filter} `.repeat(count)}}}`

test('each filter counts the characters that it reads and writes, and no chain of filters exceeds the work of one body', () => {
  const texts = ['"', '\u0001', 'ΐ', '漢', ' ', 'x'].map((letter) => letter.repeat(MiB / 8))
  for (const filter of ['json', 'upcase', 'downcase', 'strip: data.a', 'url_encode', 'base64_encode', 'append: data.a'])
    for (const a of texts)
      assert.deepEqual(rendered(times(40, filtered(filter)), JSON.stringify({ a })), TOO_MUCH_WORK, filter)
  for (const filter of ['truncate: 900000', 'prepend: data', 'plus: data.a', 'json'])
    assert.deepEqual(
      rendered(times(100, filtered(filter, 4)), JSON.stringify({ a: 'x'.repeat(MiB) })),
      TOO_MUCH_WORK,
      filter,
    )
  assert.equal(bodyOf(['{{ data.a | size }}'], JSON.stringify({ a: texts[5] })), `[${MiB / 8}]`)
})

test('comparing, counting members and ranges count as work too', () => {
  const list = Array.from({ length: 50_000 }, (_, index) => [`k${index}`, index] as const)
  const data = JSON.stringify({
    o: Object.fromEntries(list.slice(0, 9_000)),
    l: list.slice(0, 9_000),
    a: 'x'.repeat(MiB),
  })
  for (const compared of [
    'data.l == data.l',
    'data.l contains data.l',
    'data.a contains data.a',
    'data.l contains "k"',
  ])
    assert.deepEqual(rendered(times(200, `{{ ${compared} }}`), data), TOO_MUCH_WORK, compared)
  assert.deepEqual(rendered(['{{ (1..100000000) | size }}'], data), TOO_MUCH_WORK)
  assert.equal(bodyOf(times(3, '{{ data.o.size }}'), data), '[9000,9000,9000]')
  assert.equal(bodyOf(['{{ data[data.l] }}', '{{ data[data.o] }}'], data), '[null,null]')
  assert.equal(
    bodyOf(['{{ data.a contains "xy" }}', '{{ data.s contains data.t }}'], '{"a":"axy","s":"aab","t":"ab"}'),
    '[true,true]',
  )
})

test('a record costs the work of reading it, whatever part the template uses', () => {
  const named = Object.fromEntries(Array.from({ length: 60_000 }, (_, index) => [`name${index}`, 1]))
  assert.deepEqual(rendered(['{{ id }}'], JSON.stringify(named)), TOO_MUCH_WORK)
  const rows = Array.from({ length: 20_000 }, (_, id) => ({ id, name: 'a row as they come', total: 12.5 }))
  const data = JSON.stringify({ rows })
  assert.ok(data.length > MiB)
  assert.equal(bodyOf(['{{ data.rows.size }}'], data), '[20000]')
  assert.equal(bodyOf({ event: '{{ data.rows }}' }, data), `{"event":${JSON.stringify(rows)}}`)
})

test('the length of a body is limited while it is written', () => {
  const data = JSON.stringify({ a: 'x'.repeat(1_000_000) })
  const error = 'The payload template renders a body longer than 6291456 characters.'
  assert.deepEqual(rendered(times(7, '{{ data.a }}'), data), { ok: false, error })
  assert.deepEqual(rendered(times(500, '{{ data }}'), data), { ok: false, error })
})

test('the output equals that of JSON.stringify, even for long texts', () => {
  const a = `${'x'.repeat(65_535)}😀${'\u0001"'.repeat(40_000)}\ud800`
  const data = JSON.stringify({ a, b: [null, true, { c: [] }] })
  assert.equal(bodyOf(['{{ data }}', '{{ data.a }}'], data), `[${data},${JSON.stringify(a)}]`)
  assert.equal(bodyOf(['{{ data.b | json }}'], data), JSON.stringify(['[null,true,{"c":[]}]']))
})

test('the number of outputs and of filters per output is limited, and a path starts with a name', () => {
  assert.equal(refusalOf([filtered('abs', 21)]), 'payload_template/0: one {{ … }} can have at most 20 filters.')
  assert.equal(refusalOf(['{{id}}'.repeat(501)]), 'payload_template/0: a template can contain at most 500 {{ … }}.')
  assert.equal(refusalOf(['{{ [data.a] }}']), 'payload_template/0: a path starts with a name, such as data.id.')
})

test('a template reads the request by $request, and nothing else of that name', () => {
  const template = {
    event: '{{ $request.headers.x-github-event | upcase }}',
    tags: '{{ $request.query.tag }}',
    first: '{{ $request.query.tag[0] }}-{{ $request.method }} {{ $request.path }}',
    none: '{{ $request.headers.x-none }}',
    text: '{{ "$request" }} $request {{ data["$request"] }}',
  }
  assert.deepEqual(JSON.parse(bodyOf(template, '{"$request":"own"}')), {
    event: 'PUSH',
    tags: ['a', 'b'],
    first: 'a-POST /v1/ingest/•••/orders',
    none: null,
    text: '$request $request own',
  })
  assert.match(refusalOf(['{{ $request.body }}']), /^payload_template\/0: A path into the request is/)
  assert.match(refusalOf(['{{ $requests.body }}']), /\$requests/)
})
