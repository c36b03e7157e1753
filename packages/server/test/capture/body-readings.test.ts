import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { aDestination, aWebhook, filedText, post, recordOf, submissionOf } from '../stage/fixtures.ts'
import { aSink, type Answer, type World } from '../stage/harness.ts'
import { onWorldStage } from '../stage/world-stage.ts'

/** Bodies as senders really send them: their charsets, XML, text, and lists of events. Each body is the bytes of a request. */
let world: World
onWorldStage((made) => void ({ world } = made))

const FORM = 'application/x-www-form-urlencoded'
const latin1 = (text: string) => new Uint8Array(Buffer.from(text, 'latin1'))

const textsOf = async ({ body }: Answer): Promise<readonly string[]> =>
  Promise.all(body.records.map(async ({ id }: { id: string }) => (await recordOf(world, id)).data_text))

async function refusal(answer: Answer | Promise<Answer>): Promise<readonly [number, string, string]> {
  const { status, body } = await answer
  return [status, body.reason, body.error]
}

const field = (name: string, value: string) =>
  `--x\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`

describe('a request that another receiver refused or garbled', () => {
  test('a PayPal IPN in windows-1252 is read in the charset that it names', async () => {
    const sent = 'payment_status=Completed&charset=windows-1252&first_name=Ren%E9'
    const answer = await post((await aWebhook(world)).public_url, sent, { type: FORM })
    assert.equal(answer.status, 201)
    assert.equal(
      await filedText(world, answer),
      '{"payment_status":"Completed","charset":"windows-1252","first_name":"René"}',
    )
    assert.equal((await submissionOf(world, answer.body.id)).body, sent)
  })

  test('an email of SendGrid Inbound Parse has each field in its own charset', async () => {
    const charsets = '{"to":"UTF-8","text":"iso-8859-1"}'
    const sent = latin1(
      `${field('to', 'Zo\u00c3\u00ab')}${field('text', 'Gr\u00fc\u00dfe')}${field('charsets', charsets)}--x--\r\n`,
    )
    const answer = await post((await aWebhook(world)).public_url, sent, { type: 'multipart/form-data; boundary=x' })
    assert.equal(answer.status, 201)
    assert.deepEqual(JSON.parse(await filedText(world, answer)), { to: 'Zoë', text: 'Grüße', charsets })
  })

  test('a charset in Content-Encoding is no encoding', async () => {
    const headers = { 'content-encoding': 'UTF-8' }
    assert.equal((await post((await aWebhook(world)).public_url, '{"a":1}', { headers })).status, 201)
  })

  test('JSON from curl without a content type is the JSON', async () => {
    const answer = await post((await aWebhook(world)).public_url, '{"a":1,"b":"x&y=z"}', { type: FORM })
    assert.equal(await filedText(world, answer), '{"a":1,"b":"x&y=z"}')
  })

  test('an odd byte, an escape or the name of a file refuses no form', async () => {
    const { public_url: url } = await aWebhook(world)
    const part = '--x\r\nContent-Disposition: form-data; name="f"; filename="Ren\u00e9.pdf"\r\n\r\nx\r\n--x--\r\n'
    for (const [sent, type] of [
      ['a=100%&b=%E9', FORM],
      ['a=\u00e9', FORM],
      [part, 'multipart/form-data; boundary=x'],
    ] as const)
      assert.equal((await post(url, latin1(sent), { type })).status, 201, sent)
  })
})

describe('an endpoint with body_as', () => {
  test('xml files XML as an object, below and above 64 KiB, compressed too', async () => {
    const { public_url: url, body_as } = await aWebhook(world, {
      body_as: 'xml',
      criteria: [{ path: 'a.b', equals: '1' }],
    })
    assert.equal(body_as, 'xml')
    const small = await post(url, '<a><b>1</b></a>', { type: 'text/xml' })
    assert.equal(await filedText(world, small), '{"a":{"b":"1"}}')
    assert.equal((await submissionOf(world, small.body.id)).body, '<a><b>1</b></a>')
    const long = 'x'.repeat(70_000)
    const large = await post(url, `<a><b>1</b><c>${long}</c></a>`, { type: 'application/xml' })
    assert.equal(await filedText(world, large), `{"a":{"b":"1","c":"${long}"}}`)
    const packed = await post(url, new Uint8Array(gzipSync('<a><b>1</b></a>')), {
      headers: { 'content-encoding': 'gzip' },
    })
    assert.equal(await filedText(world, packed), '{"a":{"b":"1"}}')
  })

  test('xml refuses what is not XML, or is too deep, with one sentence and nothing stored', async () => {
    const { id, public_url: url } = await aWebhook(world, { body_as: 'xml' })
    assert.deepEqual(await refusal(post(url, '{"a":1}')), [
      400,
      'invalid_body',
      'The body is not well-formed XML at line 1, column 1: Non-whitespace before first tag.',
    ])
    for (const levels of [200, 200_000])
      assert.match((await refusal(post(url, '<a>'.repeat(levels))))[2], /more than 128 levels deep/)
    assert.equal((await refusal(post(url, ' ')))[1], 'empty_body')
    assert.equal((await world.admin('GET', `submissions?webhook_id=${id}`)).body.submissions.length, 0)
  })

  test('text files the text, with every character of its charset', async () => {
    const { public_url: url } = await aWebhook(world, { body_as: 'text' })
    const xml = await post(url, '<a><b>1</b></a>', { type: 'text/xml' })
    assert.equal(await filedText(world, xml), '"<a><b>1</b></a>"')
    const other = await post(url, latin1('\u00e9\u0000'), { type: 'text/plain; charset=iso-8859-5' })
    assert.equal(await filedText(world, other), '"щ\\u0000"')
  })

  test('dry runs and searches read its events as it receives them, and a destination can get them as received', async () => {
    const sink = await aSink()
    const { destination } = await aDestination(world, {
      url: `${sink.url}xml`,
      body: 'as_received',
      datasets: ['soap'],
    })
    const { id, public_url: url } = await aWebhook(world, {
      body_as: 'xml',
      dataset: 'soap',
      criteria: [{ path: 'a.b', equals: '1' }],
    })
    await post(url, '<a><b>1</b></a>', { type: 'text/xml' })
    await post(url, '<a><b>other</b></a>', { type: 'text/xml' })
    await world.idle()
    assert.deepEqual(
      sink.received.map(({ body, headers }) => [body, headers['content-type']]),
      [['<a><b>1</b></a>', 'text/xml']],
    )
    await world.admin('DELETE', `destinations/${destination.id}`)
    const tried = (await world.admin('POST', `webhooks/${id}/test`, { recent: 2 })).body
    assert.deepEqual([tried.matched, tried.tested, tried.results[1].data], [1, 2, { a: { b: '1' } }])
    const found = (await world.admin('GET', `search/submissions?webhook=${id}&f=a.b:equals:other`)).body
    assert.deepEqual([found.submissions.length, found.unreadable ?? 0], [1, 0])
    await sink.stop()
  })
})

describe('an endpoint with split', () => {
  test('makes a record of each item of an array, and routes each alone', async () => {
    const sink = await aSink()
    await aDestination(world, {
      url: `${sink.url}clicks`,
      datasets: ['mails'],
      conditions: [{ path: 'event', equals: 'click' }],
    })
    const { public_url: url, split } = await aWebhook(world, { split: { path: '' }, dataset: 'mails' })
    assert.deepEqual(split, { path: '' })
    const answer = await post(url, '[{"event":"open"},{"event":"click","n":12345678901234567890}]')
    assert.deepEqual(await textsOf(answer), ['{"event":"open"}', '{"event":"click","n":12345678901234567890}'])
    await world.idle()
    assert.deepEqual(
      sink.received.map(({ body }) => JSON.parse(body).data.event),
      ['click'],
    )
    const { decision } = await submissionOf(world, answer.body.id)
    assert.deepEqual(
      decision.items.map(({ index, matched, record_id }: Answer['body']) => [index, matched, record_id]),
      answer.body.records.map(({ id }: Answer['body'], index: number) => [index, true, id]),
    )
    await sink.stop()
  })

  test('"" means the whole payload, and a path can lead to a list, to one value, or to none', async () => {
    const whole = await aWebhook(world, { split: '' })
    assert.deepEqual(whole.split, { path: '' })
    assert.deepEqual(await textsOf(await post(whole.public_url, '{"a":1}')), ['{"a":1}'])
    assert.deepEqual(await textsOf(await post(whole.public_url, '[]')), [])
    const { public_url: url } = await aWebhook(world, { split: { path: 'data.events' } })
    assert.deepEqual(await textsOf(await post(url, '{"data":{"events":[1,"x",null]}}')), ['1', '"x"', 'null'])
    assert.deepEqual(await textsOf(await post(url, '{"data":{"events":{"a":1}}}')), ['{"a":1}'])
    assert.deepEqual(await textsOf(await post(url, '{"data":{"events":null}}')), ['{"data":{"events":null}}'])
  })

  test('files each item by the criteria and mappings of the endpoint', async () => {
    const { public_url: url, id } = await aWebhook(world, {
      split: { path: 'items' },
      criteria: [{ path: 'total', op: 'gte', value: 10 }],
      mappings: [{ target: 'sum', path: 'total' }],
    })
    const sent = '{"items":[{"total":5},{"total":10},{"total":20}]}'
    const answer = await post(url, sent)
    assert.deepEqual(await textsOf(answer), ['{"sum":10}', '{"sum":20}'])
    const { decision } = await submissionOf(world, answer.body.id)
    assert.deepEqual(decision.items[0], {
      index: 0,
      matched: false,
      failed: { index: 0, path: 'total', op: 'gte', expected: 10, saw: 5 },
      record_id: null,
    })
    const tried = (await world.admin('POST', `webhooks/${id}/test`, { recent: 1 })).body
    assert.deepEqual(
      [tried.matched, tried.tested, tried.results.map((one: Answer['body']) => one.data)],
      [1, 1, [null, { sum: 10 }, { sum: 20 }]],
    )
  })

  test('makes a record of each line, of the bad ones as text, and of one document over several lines', async () => {
    const { public_url: url } = await aWebhook(world, { split: 'lines' })
    const type = 'application/x-ndjson'
    assert.deepEqual(await textsOf(await post(url, '{"a":1}\n{"a":2}\n', { type })), ['{"a":1}', '{"a":2}'])
    assert.deepEqual(await textsOf(await post(url, latin1('{"a":1}\n{"a":\nRen\u00e9'), { type })), [
      '{"a":1}',
      '"{\\"a\\":"',
      '"René"',
    ])
    assert.deepEqual(await textsOf(await post(url, '{\n"a": 1\n}')), ['{"a":1}'])
    const many = Array.from({ length: 10_000 }, (_, at) => `{"line":${at}}`).join('\n')
    const large = await post(url, many, { type })
    assert.deepEqual([large.status, large.body.records.length], [201, 10_000])
    assert.equal((await recordOf(world, large.body.records[9_999].id)).data_text, '{"line":9999}')
  })

  test('splits the lines of text, and the elements of XML, of which one is a list too', async () => {
    const text = await aWebhook(world, { body_as: 'text', split: 'lines' })
    assert.deepEqual(await textsOf(await post(text.public_url, 'one\r\n2\n', { type: 'text/plain' })), ['"one"', '"2"'])
    const feed = await aWebhook(world, { body_as: 'xml', split: { path: 'feed.entry' } })
    const entry = '<entry><id>1</id></entry>'
    for (const count of [1, 2])
      assert.deepEqual(
        await textsOf(await post(feed.public_url, `<feed>${entry.repeat(count)}</feed>`)),
        Array(count).fill('{"id":"1"}'),
      )
  })

  test('refuses more items than a decision has reasons, and stores nothing', async () => {
    const { id, public_url: url } = await aWebhook(world, { split: { path: '' } })
    const [status, reason, error] = await refusal(post(url, `[${'1,'.repeat(20_000)}1]`))
    assert.deepEqual([status, reason], [413, 'records_too_large'])
    assert.match(error, /20001 items, more than 20000/)
    assert.equal((await world.admin('GET', `submissions?webhook_id=${id}`)).body.submissions.length, 0)
  })

  test('the key of a request has those of its items with their index: an equal request is a duplicate', async () => {
    for (const note of ['', 'x'.repeat(70_000)]) {
      const { public_url: url } = await aWebhook(world, { split: { path: '' }, idempotency: { path: 'sg_event_id' } })
      const sent = `[{"sg_event_id":"one"},{"sg_event_id":"one","note":"${note}"}]`
      const first = await post(url, sent)
      assert.deepEqual([first.status, first.body.records.length], [201, 2])
      const repeat = await post(url, sent)
      assert.deepEqual([repeat.status, repeat.body.duplicate, repeat.body.records], [200, true, first.body.records])
      assert.equal((await post(url, sent.replace('"one"', '"two"'))).status, 201)
      const keyless = `[{"a":1},{"note":"${note}"}]`
      assert.deepEqual([(await post(url, keyless)).status, (await post(url, keyless)).status], [201, 201])
    }
  })

  test('sends the record alone to a destination that asks for the request as received', async () => {
    const sink = await aSink()
    await aDestination(world, { url: `${sink.url}items`, body: 'as_received', datasets: ['alone'] })
    const { public_url: url } = await aWebhook(world, { split: { path: '' }, dataset: 'alone' })
    await post(url, '[{"a":1},{"a":2}]')
    await world.idle()
    assert.deepEqual(sink.received.map(({ body }) => body).toSorted(), ['{"a":1}', '{"a":2}'])
    await sink.stop()
  })

  test('an invalid split, or XML by line, also in two changes, is refused with a sentence', async () => {
    const refused = async (members: object): Promise<readonly [number, string, string]> =>
      refusal(world.admin('POST', 'webhooks', { name: 'Split', ...members }))
    assert.match((await refused({ split: 'rows' }))[2], /"lines" for NDJSON/)
    assert.match((await refused({ split: { path: 'a..b' } }))[2], /split/)
    assert.match((await refused({ body_as: 'csv' }))[2], /one of contract, text, xml/)
    const { id } = await aWebhook(world, { body_as: 'xml' })
    const [status, , error] = await refusal(world.admin('PATCH', `webhooks/${id}`, { split: 'lines' }))
    assert.equal(status, 400)
    assert.match(error, /With body_as xml, name the list/)
    const both = (await world.admin('PATCH', `webhooks/${id}`, { split: 'lines', body_as: 'contract' })).body.webhook
    assert.deepEqual([both.split, both.body_as], ['lines', 'contract'])
  })
})
