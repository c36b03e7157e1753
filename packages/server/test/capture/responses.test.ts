import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { describe, test } from 'node:test'
import type { SourcePreset } from '@postroad/contract'
import { Webhook as StandardWebhook } from 'standardwebhooks'
import { anIngestKey, aWebhook, post, submissionOf, type Posting } from '../stage/fixtures.ts'
import type { Answer, World } from '../stage/harness.ts'
import { onWorldStage } from '../stage/world-stage.ts'

/** The response of an endpoint to the events that it accepts. */
let world: World

onWorldStage(
  (made) => {
    ;({ world } = made)
  },
  { loops: [] },
)

const XML = { status: 200, content_type: 'text/xml; charset=utf-8', body: '<Response/>' }

const shownIn = ({ status, headers, body }: Answer) => [status, headers.get('content-type'), body]
const refused = ({ status, body }: Answer) => [status, body.reason]

const presets = async (): Promise<readonly SourcePreset[]> =>
  (await world.admin('GET', 'source-presets')).body.source_presets

/** Signed with "the secret", under one idempotency key. */
const signed = (body: string): Posting => ({
  headers: {
    'x-signature': createHmac('sha256', 'the secret').update(body).digest('hex'),
    'idempotency-key': 'one',
  },
})

async function ofPreset(id: string, secret: string) {
  const { settings } = (await presets()).find((preset) => preset.id === id) ?? assert.fail()
  return aWebhook(world, { ...settings, verification: { ...settings.verification, secret } })
}

async function acceptedBy({ id }: { readonly id: string }): Promise<number> {
  return (await world.admin('GET', `submissions?webhook_id=${id}`)).body.submissions.length
}

describe('an endpoint with its own response', () => {
  test('answers an accepted event with each status, its content type and its body', async () => {
    for (const status of [200, 201, 202]) {
      const response = { ...XML, status, body: '<Zoë/>' }
      const webhook = await aWebhook(world, { response })
      assert.deepEqual(webhook.response, response)
      const answer = await post(webhook.public_url, '{"a":1}')
      assert.deepEqual(shownIn(answer), [status, 'text/xml; charset=utf-8', '<Zoë/>'])
      assert.equal(answer.headers.get('content-length'), '7')
      assert.equal(await acceptedBy(webhook), 1)
    }
  })

  test('answers 204 without a body, and 200 without a body or a type when both are left out', async () => {
    const empty = await aWebhook(world, { response: { status: 204 } })
    assert.deepEqual(empty.response, { status: 204, content_type: null, body: '' })
    const nothing = await post(empty.public_url, '{"a":1}')
    assert.deepEqual([...shownIn(nothing), nothing.headers.get('content-length')], [204, null, undefined, null])
    const bare = await post((await aWebhook(world, { response: { status: 200 } })).public_url, '{"a":1}')
    assert.deepEqual([...shownIn(bare), bare.headers.get('content-length')], [200, null, undefined, '0'])
    assert.equal(await acceptedBy(empty), 1)
  })

  test('answers with a policy under which a browser runs nothing, because the console has the same origin', async () => {
    const page = { status: 200, content_type: 'text/html', body: '<script>alert(1)</script>' }
    const { headers } = await post((await aWebhook(world, { response: page })).public_url, '{"a":1}')
    assert.equal(headers.get('content-security-policy'), "default-src 'none'; sandbox")
    assert.equal(headers.get('x-content-type-options'), 'nosniff')
  })

  test('names the event in Request-Id, also for an event that its criteria file nowhere', async () => {
    const webhook = await aWebhook(world, { response: XML, criteria: [{ path: 'a', equals: 2 }] })
    const answer = await post(webhook.public_url, '{"a":1}')
    assert.deepEqual(shownIn(answer), [200, 'text/xml; charset=utf-8', '<Response/>'])
    const id = `sub_${answer.headers.get('request-id')?.slice('req_'.length)}`
    assert.equal((await submissionOf(world, id)).id, id)
  })

  test('answers a duplicate in the same way, and stores nothing again', async () => {
    const webhook = await aWebhook(world, { response: XML, idempotency: { path: 'id' } })
    const send = (body: string, headers = {}): Promise<Answer> => post(webhook.public_url, body, { headers })
    const keyed = { 'idempotency-key': 'one' }
    for (const answer of [
      await send('{"id":1}'),
      await send('{"id":1}'),
      await send('{}', keyed),
      await send('{}', keyed),
    ])
      assert.deepEqual(shownIn(answer), [200, 'text/xml; charset=utf-8', '<Response/>'])
    assert.equal(await acceptedBy(webhook), 2)
  })

  test('answers in the same way with a dataset in the URL and through an ingest key; the key itself has no response', async () => {
    const { id, slug, public_url } = await aWebhook(world, { response: XML })
    const { key } = await anIngestKey(world)
    const through = await post(`${world.baseUrl}/v1/webhooks/${key}/${slug}`, '{"a":1}')
    const filed = await post(`${public_url}/elsewhere`, '{"a":1}')
    assert.deepEqual([shownIn(through), shownIn(filed)], [shownIn(filed), [200, XML.content_type, XML.body]])
    assert.equal((await post(`${world.baseUrl}/v1/ingest/${key}`, '{"a":1}')).status, 201)
    assert.equal(await acceptedBy({ id }), 2)
  })

  test('answers as the contract says when the request prefers it, and again after the response is removed', async () => {
    const webhook = await aWebhook(world, { response: XML, idempotency: { path: 'id' } })
    const preferring: Posting = { headers: { prefer: 'respond-async, return=representation' } }
    const first = await post(webhook.public_url, '{"id":1}', preferring)
    assert.deepEqual([first.status, first.body.status, first.body.duplicate], [201, 'accepted', false])
    const repeat = await post(webhook.public_url, '{"id":1}', preferring)
    assert.deepEqual([repeat.status, repeat.body], [200, { ...first.body, duplicate: true }])
    assert.equal((await post(webhook.public_url, '{"id":2}', { headers: { prefer: 'return=minimal' } })).status, 200)
    await world.admin('PATCH', `webhooks/${webhook.id}`, { response: null })
    assert.equal((await post(webhook.public_url, '{"id":3}')).status, 201)
  })

  test('never changes a refusal, and neither the answer to a question of a provider', async () => {
    const webhook = await aWebhook(world, {
      response: { status: 204 },
      verification: { scheme: 'hmac', secret: 'the secret' },
      handshake: { kind: 'hub_challenge', verify_token: 'token' },
    })
    const { public_url: url, id } = webhook
    assert.deepEqual(refused(await post(url, '{"a":1}')), [401, 'missing_header'])
    assert.deepEqual(refused(await post(url, '{"broken', signed('{"broken'))), [400, 'invalid_body'])
    assert.equal((await post(url, '{"a":1}', signed('{"a":1}'))).status, 204)
    assert.deepEqual(refused(await post(url, '{"a":2}', signed('{"a":2}'))), [422, 'idempotency_key_reused'])
    const asked = await fetch(`${url}?hub.mode=subscribe&hub.verify_token=token&hub.challenge=42`)
    assert.deepEqual([asked.status, await asked.text()], [200, '42'])
    await world.admin('PATCH', `webhooks/${id}`, { enabled: false })
    assert.deepEqual(refused(await post(url, '{"a":1}', signed('{"a":1}'))), [503, 'endpoint_disabled'])
  })

  test('its activity shows the status that the sender got at that time', async () => {
    const webhook = await aWebhook(world, { response: { status: 202 } })
    await post(webhook.public_url, '{"a":1}')
    world.clock.advance(1_000)
    await world.admin('PATCH', `webhooks/${webhook.id}`, { response: null })
    world.clock.advance(1_000)
    await post(webhook.public_url, '{"a":2}')
    const { rows } = (await world.admin('GET', `webhooks/${webhook.id}/activity`)).body
    assert.deepEqual(
      rows.map(({ status }: { status: number }) => status),
      [201, 202],
    )
  })

  test('a version contains the response, and a restore brings it back', async () => {
    const { id, public_url } = await aWebhook(world, { response: XML })
    const changed = await world.admin('PATCH', `webhooks/${id}`, { response: { status: 204 } })
    assert.deepEqual([changed.body.webhook.version, changed.body.webhook.response.status], [2, 204])
    const { version } = (await world.admin('GET', `webhooks/${id}/versions/2`)).body
    assert.deepEqual(
      [version.changed, version.config.response],
      [['response'], { status: 204, content_type: null, body: '' }],
    )
    await world.admin('POST', `webhooks/${id}/versions/1/restore`, {})
    assert.equal((await post(public_url, '{"a":1}')).body, '<Response/>')
  })

  test('a deleted endpoint comes back with its response', async () => {
    const { id, public_url } = await aWebhook(world, { response: XML })
    const { deletion } = (await world.admin('DELETE', `webhooks/${id}`)).body
    assert.equal((await world.admin('POST', `deletions/${deletion.id}/restore`, {})).status, 200)
    assert.equal((await post(public_url, '{"a":1}')).body, '<Response/>')
  })
})

describe('a response that cannot be sent is refused with one sentence', () => {
  const REFUSED: readonly (readonly [what: string, response: object, sentence: string])[] = [
    ['another status', { status: 500 }, 'response.status must be one of 200, 201, 202, 204.'],
    [
      'a body with 204',
      { status: 204, content_type: 'text/plain', body: 'x' },
      'response.body must be empty with the status 204, because such a response has no body.',
    ],
    [
      'a body without a type',
      { status: 200, body: '{}' },
      'response.content_type is missing: a response with a body names its type, such as application/json.',
    ],
    [
      'a body over 4 KiB',
      { status: 200, content_type: 'text/plain', body: 'ë'.repeat(2_049) },
      'response.body has at most 4,096 bytes in UTF-8.',
    ],
    ['a member that does not exist', { status: 200, headers: {} }, 'response: unknown field "headers"; remove it.'],
    ...[
      'text/plain\r\nSet-Cookie: a=b',
      'text/plain\n',
      'text/plain; a="b\r\nX: y"',
      'text/plain; charset=utf-8, text/html',
      'text',
      'text/ plain',
      'text/plain;',
      'tëxt/plain',
      '',
    ].map(
      (content_type) =>
        [
          `the content type ${JSON.stringify(content_type)}`,
          { status: 200, content_type, body: 'x' },
          'response.content_type must be one media type, such as application/json or text/xml; charset=utf-8.',
        ] as const,
    ),
  ]
  for (const [what, response, sentence] of REFUSED) {
    test(what, async () => {
      const { id } = await aWebhook(world)
      const answers = [
        await world.admin('POST', 'webhooks', { name: 'refused', response }),
        await world.admin('PATCH', `webhooks/${id}`, { response }),
      ]
      for (const { status, body } of answers)
        assert.deepEqual([status, body.reason, body.error], [400, 'invalid_request', sentence])
    })
  }

  test('a body of exactly 4 KiB is sent whole', async () => {
    const body = 'ë'.repeat(2_048)
    const { public_url } = await aWebhook(world, { response: { status: 200, content_type: 'text/plain', body } })
    assert.equal((await post(public_url, '{"a":1}')).body, body)
  })
})

describe('an endpoint made from a preset answers as its provider requires', () => {
  test('Supabase Auth gets 200 and {} as JSON', async () => {
    const secret = `whsec_${Buffer.from('a secret of thirty-two bytes ok!').toString('base64')}`
    const { public_url } = await ofPreset('supabase-auth', secret)
    const [now, body] = [new Date(world.clock.wall()), '{"user":{"id":"u_1"}}']
    const answer = await post(public_url, body, {
      headers: {
        'webhook-id': 'msg_1',
        'webhook-timestamp': String(Math.floor(now.getTime() / 1_000)),
        'webhook-signature': new StandardWebhook(secret).sign('msg_1', now, body),
      },
    })
    assert.deepEqual(shownIn(answer), [200, 'application/json', {}])
  })

  test('Twilio gets an empty TwiML document', async () => {
    const { public_url: url } = await ofPreset('twilio', 'an auth token')
    const signature = createHmac('sha1', 'an auth token').update(`${url}BodyHello`).digest('base64')
    const answer = await post(url, 'Body=Hello', {
      headers: { 'x-twilio-signature': signature },
      type: 'application/x-www-form-urlencoded',
    })
    assert.deepEqual(shownIn(answer), [200, 'text/xml', '<Response/>'])
  })

  test('the providers that document a status other than any 2xx have it', async () => {
    const statuses = (await presets()).flatMap(({ id, settings: { response } }) =>
      response === null ? [] : [[id, response.status] as const],
    )
    assert.deepEqual(Object.fromEntries(statuses), {
      adyen: 200,
      agora: 200,
      discord: 204,
      jambonz: 200,
      line: 200,
      meta: 200,
      ordercloud: 200,
      paddle: 200,
      plivo: 200,
      quickbooks: 200,
      revenuecat: 200,
      signalwire: 200,
      'supabase-auth': 200,
      'terraform-run-tasks': 200,
      todoist: 200,
      twilio: 200,
      viber: 200,
      vonage: 200,
      zoom: 200,
    })
  })
})
