import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { test, type TestContext } from 'node:test'
import { aDestination, anIngestKey, post } from '../stage/fixtures.ts'
import { aSink, type Answer, type Sink, type World } from '../stage/harness.ts'
import { onWorldStage } from '../stage/world-stage.ts'

let world: World
let key: string
let recordId: string
let presets: readonly Answer['body'][]
onWorldStage(
  async (made) => {
    ;({ world } = made)
    key = (await anIngestKey(world)).key
    recordId = await sent('orders', '{"order":{"id":12345678901234567890,"total":1.50},"note":"hi"}')
    presets = (await world.admin('GET', 'destination-presets')).body.destination_presets
  },
  { loops: [] },
)

async function sent(dataset: string, body: string): Promise<string> {
  const answer = await post(`${world.baseUrl}/v1/ingest/${key}/${dataset}`, body)
  assert.equal(answer.status, 201)
  return answer.body.records[0].id
}

async function aTestSink(t: TestContext): Promise<Sink> {
  const sink = await aSink()
  t.after(() => sink.stop())
  return sink
}

const TOO_MUCH_WORK =
  'The payload template needs more work for this record than one body can use. Use fewer filters, or apply them to smaller parts of the record.'
/** Each of these filters doubles the backslashes before a quotation mark. */
const DOUBLES = `{{ data.quote ${'| json '.repeat(20)}}}`

const preview = (body: object): Promise<Answer> =>
  world.admin('POST', 'destinations/preview', { record_id: recordId, ...body })
async function attemptOf(record: string): Promise<Answer['body']> {
  await world.idle()
  const { deliveries } = (await world.admin('GET', `deliveries?record_id=${record}`)).body
  const attempt = (await world.admin('GET', `deliveries/${deliveries[0].id}`)).body.delivery.attempts.at(-1)
  assert.notEqual(attempt.outcome, null)
  return attempt
}

test('the presets are listed, with the generic one last', () => {
  assert.deepEqual(
    presets.map(({ id }) => id),
    ['datadog', 'discord', 'teams', 'opsgenie', 'pagerduty', 'slack', 'generic'],
  )
})

/** The body that each receiver accepts, according to its documentation. */
const TAKEN: Readonly<Record<string, (body: Answer['body']) => boolean>> = {
  generic: ({ id, data }) => id === recordId && data.note === 'hi',
  slack: ({ text, blocks }) =>
    text === 'New event in orders' &&
    blocks[1].text.text.includes('12345678901234567890') &&
    blocks.every(({ type }: { type: string }) => type === 'section' || type === 'context'),
  discord: ({ content, embeds, allowed_mentions }) =>
    content.includes('orders') && embeds[0].description.length <= 4_096 && allowed_mentions.parse.length === 0,
  teams: ({ type, attachments: [{ contentType, content }] }) =>
    type === 'message' && contentType === 'application/vnd.microsoft.card.adaptive' && content.type === 'AdaptiveCard',
  datadog: ([{ message, service, event }]) =>
    message === 'New event in orders' && service === 'orders' && event.note === 'hi',
  opsgenie: ({ message, alias, description }) =>
    message === 'New event in orders' && alias === recordId && description.includes('12345678901234567890'),
  pagerduty: ({ routing_key, event_action, dedup_key, payload }) =>
    routing_key === 'a-key-of-theirs' &&
    event_action === 'trigger' &&
    dedup_key === recordId &&
    payload.severity === 'error' &&
    payload.custom_details.note === 'hi',
}
const SECRET_MEMBERS: Readonly<Record<string, object>> = {
  none: {},
  header: { value: 'a-key-of-theirs' },
  payload: { secret: 'a-key-of-theirs' },
}

test('a destination made from each preset delivers a body that its receiver accepts, signed over the bytes that were sent, and the preview showed the same body', async (t) => {
  for (const { id, settings } of presets) {
    const sink = await aTestSink(t)
    const dataset = `p_${id}`
    const members = { url: sink.url, ...settings, auth: { ...settings.auth, ...SECRET_MEMBERS[settings.auth.kind] } }
    const { destination, secret } = await aDestination(world, { ...members, datasets: ['orders'] })
    const shown = (await preview({ destination_id: destination.id })).body
    assert.equal(shown.error, null, id)
    // This event goes to this destination only.
    recordId = await sent('orders', '{"order":{"id":12345678901234567890,"total":1.50},"note":"hi"}')
    const [request] = await sink.until(1)
    assert.ok(request !== undefined && TAKEN[id]?.(JSON.parse(request.body)), `${id}: ${request?.body}`)
    const { t: time = '', v1 } = Object.fromEntries(
      (request.headers['service-signature'] as string).split(',').map((part) => part.split('=')),
    )
    assert.equal(v1, createHmac('sha256', secret).update(`${time}.${request.body}`).digest('hex'))
    const { body } = (await preview({ destination_id: destination.id })).body.request
    assert.equal(body, request.body.replace('a-key-of-theirs', '••••••••'), dataset)
    await world.admin('DELETE', `destinations/${destination.id}`)
  }
})

test('unsaved settings can be previewed on a stored record, with their secrets as dots, and nothing is sent', async (t) => {
  const sink = await aTestSink(t)
  const auth = { kind: 'bearer', token: 'token-nobody-sees' }
  const { status, body } = await preview({
    url: sink.url,
    auth,
    headers: { 'X-Own': 'mine' },
    payload_template: { total: '{{ data.order.total }}' },
  })
  assert.equal(status, 200)
  const { headers, ...request } = body.request
  const form = { body_base64: null, body_form: null, body_reason: null }
  assert.deepEqual(request, { method: 'POST', url: sink.url, body: '{"total":1.50}', ...form })
  assert.deepEqual(
    [
      headers.authorization,
      headers['x-own'],
      headers['Service-Signature'],
      headers['webhook-signature'],
      headers['service-attempt'],
    ],
    ['Bearer ••••••••', '••••••••', '••••••••', '••••••••', '1'],
  )
  assert.ok(!JSON.stringify(body).includes('token-nobody-sees'))
  const [refused, nowhere] = [await preview({ url: sink.url, payload_template: { a: '{{ x }}' } }), await preview({})]
  assert.deepEqual(
    [refused.status, refused.body.error],
    [
      400,
      'payload_template/a: x does not exist here; a template can use id, dataset, received_at, data, secret, $request.',
    ],
  )
  assert.deepEqual(
    [nowhere.status, nowhere.body.error],
    [400, 'url is needed without destination_id; send one of them.'],
  )
  assert.equal(sink.received.length, 0)
})

test('the preview stops a template whose filters double a text, and a template with too many filters is refused', async () => {
  const url = 'http://127.0.0.1:9/'
  const record_id = await sent('quotes', JSON.stringify({ quote: '"'.repeat(1_000) }))
  for (const template of [DOUBLES, '{{ (1..100000000) | size }}', Array.from({ length: 40 }, () => DOUBLES)]) {
    const { status, body } = await preview({ url, record_id, payload_template: { a: template } })
    assert.deepEqual([status, body], [200, { request: null, error: TOO_MUCH_WORK }])
  }
  const many = { a: `{{ data.quote ${'| json '.repeat(200)}}}` }
  for (const answer of [
    await preview({ url, record_id, payload_template: many }),
    await world.admin('POST', 'destinations', { name: 'many filters', url, payload_template: many }),
  ])
    assert.deepEqual(
      [answer.status, answer.body.error],
      [400, 'payload_template/a: one {{ … }} can have at most 20 filters.'],
    )
})

test('every attempt of a record sends the same bytes; a changed template applies from the next attempt on', async (t) => {
  const sink = await aTestSink(t)
  sink.answer((_request, index) => ({ status: index === 0 ? 500 : 200 }))
  const { destination } = await aDestination(world, {
    url: sink.url,
    datasets: ['same'],
    payload_template: { n: '{{ data.n }}' },
  })
  const record = await sent('same', '{"n":1.10}')
  const failed = await attemptOf(record)
  world.clock.set(Date.parse(failed.next_attempt_at))
  const [first, second] = await sink.until(2)
  assert.deepEqual([first?.body, second?.body], ['{"n":1.10}', '{"n":1.10}'])
  assert.equal((await attemptOf(record)).outcome, 'succeeded')
  assert.equal((await world.admin('PATCH', `destinations/${destination.id}`, { payload_template: null })).status, 200)
  const { id } = (await world.admin('GET', `deliveries?record_id=${record}`)).body.deliveries[0]
  assert.equal((await world.admin('POST', `deliveries/${id}/replay`)).status, 200)
  const [, , third] = await sink.until(3)
  assert.equal(JSON.parse(third?.body ?? '').data.n, 1.1)
})

test('a record on which the template fails ends the attempt with the cause; other records are delivered', async (t) => {
  const sink = await aTestSink(t)
  await aDestination(world, {
    url: sink.url,
    datasets: ['grows'],
    payload_template: { a: '{{ (1..data.n) | size }}', b: DOUBLES.replace('| json }}', '| size }}') },
  })
  await fails(await sent('grows', '{"n":100000000}'))
  await fails(await sent('grows', JSON.stringify({ n: 3, quote: '"'.repeat(1_000) })))
  await sent('grows', '{"n":3,"quote":null}')
  assert.equal((await sink.until(1))[0]?.body, '{"a":3,"b":524290}')
})

async function fails(record: string): Promise<void> {
  const attempt = await attemptOf(record)
  assert.deepEqual([attempt.error_code, attempt.error_detail], ['template_failed', TOO_MUCH_WORK])
}

test('a template that uses a secret needs a stored secret', async () => {
  const answer = await world.admin('POST', 'destinations', {
    name: 'x',
    url: 'https://example.com/',
    payload_template: { k: '{{ secret }}' },
  })
  assert.deepEqual(
    [answer.status, answer.body.error],
    [400, 'payload_template: {{ secret }} requires auth of the kind payload, which stores the secret.'],
  )
})
