import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { World } from '../stage/harness.ts'
import { onWorldStage } from '../stage/world-stage.ts'

/** The answers of the admin API to unusual requests. */
let world: World

onWorldStage(
  (made) => {
    ;({ world } = made)
  },
  { env: { LOG_LEVEL: 'silent' }, loops: [] },
)

describe('every answer under /admin/api has the version header', () => {
  for (const path of ['me', 'nowhere', 'rules/not-an-id', 'projects/x/y/z', '%zz']) {
    test(path, async () => {
      const { headers } = await world.admin('GET', path)
      assert.equal(headers.get('service-version'), '2026-09-29')
    })
  }
})

test('a search for U+0000, which payloads may contain, is answered', async () => {
  for (const query of ['f=a:equals:%00', 'header=x-name:equals:%00', 'f=%00:exists'])
    assert.equal((await world.admin('GET', `search/events?${query}`)).status, 200, query)
})

describe('text that the store cannot store gets 400, not 500', () => {
  const text = 'a\0b'
  const CASES: readonly (readonly [string, object])[] = [
    ['webhooks', { name: text }],
    ['rules', { name: text, dataset: 'd' }],
    ['ingest-keys', { name: text }],
    ['projects', { name: text }],
    ['destinations', { name: text, url: 'http://127.0.0.1:1/' }],
    ['destinations', { name: 'x', url: `http://127.0.0.1:1/${text}` }],
    ['datasets', { name: 'described', description: text }],
    [
      'ai-providers',
      { name: 'x', kind: 'openai_compatible', default_model: 'm', base_url: `https://example.com/${text}` },
    ],
    ['cron-triggers', { name: 'x', dataset: 'd', expression: `0 9 * * *${text}`, time_zone: 'UTC' }],
    ['webhooks', { name: 'x', dataset: 'd', cors: { origins: [`https://${text}.example.com`] } }],
    ['session', { passkey: { id: text, rawId: text, type: 'public-key', response: {} } }],
  ]
  for (const [path, body] of CASES) {
    test(`POST ${path} with U+0000 in ${Object.entries(body).find(([, value]) => JSON.stringify(value).includes(String.raw`\u0000`))?.[0]}`, async () => {
      const answer = await world.admin('POST', path, body, { 'x-requested-with': 'test' })
      assert.deepEqual([answer.status, answer.body.reason], [400, 'invalid_request'])
      assert.match(answer.body.error, /U\+0000/)
    })
  }
})

const said = async (request: string, body?: unknown, headers: Record<string, string> = {}): Promise<string> => {
  const [method = '', path = ''] = request.split(' ')
  const answer = await world.admin(method, path, body, headers)
  assert.deepEqual(
    [answer.status, answer.body.reason],
    [400, 'invalid_request'],
    `${request}: ${JSON.stringify(answer.body)}`,
  )
  return answer.body.error
}

describe('the fault and the remedy, in the words of JSON', () => {
  const destination = { name: 'x', url: 'http://127.0.0.1:9/' }
  const CASES: readonly (readonly [string, object | undefined, string])[] = [
    ['GET deliveries?limit=10.5', undefined, 'limit must be a whole number.'],
    ['GET deliveries?limit=many', undefined, 'limit must be a number.'],
    ['GET deliveries?limit=1e30', undefined, 'limit must be at most 200.'],
    ['GET deliveries?state=failed&state=pending', undefined, 'state is in the query more than once; send it once.'],
    ['GET records?dataset=a&dataset=b', undefined, 'dataset is in the query more than once; send it once.'],
    ['GET audit?actor=%00', undefined, 'actor may not contain the character U+0000.'],
    ['GET audit?action=', undefined, 'action must not be empty.'],
    ['POST destinations', { ...destination, timeout_ms: 1e20 }, 'timeout_ms must be at most 60000.'],
    ['POST destinations', { ...destination, timeout_ms: -1e20 }, 'timeout_ms must be at least 1000.'],
    ['POST destinations', { ...destination, timeout_ms: 1_000.5 }, 'timeout_ms must be a whole number.'],
    ['POST destinations', { ...destination, headers: [] }, 'headers must be of type object, not array.'],
    [
      'POST destinations',
      { ...destination, headers: { '': 'x' } },
      'headers.: The header is the name of a request header, such as X-Tenant. Use letters, digits and hyphens; quotes, backticks, "$", "|" and spaces are not allowed.',
    ],
    [
      'POST destinations',
      { ...destination, retry: { schedule_seconds: [] } },
      'retry.schedule_seconds must have at least 1 item.',
    ],
    [
      'POST destinations',
      { ...destination, ordering: 'fifo' },
      'ordering: An order is "none", or an object with a path into the record, such as {"path":"customer.id"}.',
    ],
    [
      'POST destinations',
      { ...destination, ordering: { path: 5 } },
      'ordering: An order is "none", or an object with a path into the record, such as {"path":"customer.id"}.',
    ],
    [
      'POST destinations',
      { ...destination, ordering: { path: 'a', by: 1 } },
      'ordering: unknown field "by"; remove it.',
    ],
    [
      'POST destinations',
      { ...destination, payload_template: '{{ id }}' },
      'payload_template must be of type object or of type array.',
    ],
    [
      'POST destinations',
      { ...destination, payload_template: { a: '{% if x %}' } },
      'payload_template/a: the tag "if" is not supported; a template takes {{ … }} with filters, and no tags.',
    ],
    [
      'POST rules/test',
      { payloads_text: 'x' },
      'payloads_text: it is not valid JSON: unexpected "x" at line 1, column 1.',
    ],
    [
      'GET stream?dataset=no-name',
      undefined,
      'dataset: "no-name" is not a dataset name. A name starts with a letter, followed by up to 62 letters, digits or underscores.',
    ],
  ]
  for (const [request, body, sentence] of CASES) {
    test(`${request} ${body === undefined ? '' : JSON.stringify(body)} → ${sentence}`, async () =>
      assert.equal(await said(request, body), sentence))
  }

  test('the faults of a sample request', async () => {
    const path = `POST webhooks/${world.installed.webhook.id}/verify-sample`
    assert.equal(
      await said(path, { headers: {}, now: 'yesterday' }),
      'now must be of type number or a time such as 2026-01-31T12:00:00Z; write the + of an offset as %2B.',
    )
    assert.equal(await said(path, { headers: {}, now: -1 }), 'now must be at least 0.')
    assert.equal(
      await said(path, { headers: {}, body_base64: '*' }),
      'body_base64 must be base64, such as eyJhIjoxfQ==.',
    )
  })

  test('the error for a body that is not JSON names the header that declares another type or coding', async () => {
    const form = await said('POST rules', 'name=x&dataset=d', {
      'content-type': 'application/x-www-form-urlencoded; charset=utf-8',
    })
    assert.equal(
      form,
      'The body is not valid JSON: unexpected "n" at line 1, column 1. Its Content-Type is application/x-www-form-urlencoded; send JSON.',
    )
    const packed = await said('POST rules', 'packed', { 'content-encoding': 'gzip' })
    assert.equal(
      packed,
      'The body is not valid JSON: unexpected "p" at line 1, column 1. This API does not support Content-Encoding; send the body uncompressed.',
    )
    assert.equal(
      (await world.admin('POST', 'rules', '{"name":"a form","dataset":"d"}', { 'content-type': 'text/plain' })).status,
      201,
      'JSON is accepted under any content type',
    )
  })

  test('a route without a body accepts none, or an empty object', async () => {
    const { id } = (await world.admin('POST', 'destinations', destination)).body.destination
    assert.equal(await said(`DELETE destinations/${id}`, { force: true }), 'body: unknown field "force"; remove it.')
    assert.equal(await said(`DELETE destinations/${id}`, '[]'), 'The body must be of type object, not array.')
    assert.equal((await world.admin('DELETE', `destinations/${id}`, {})).status, 200)
  })
})

describe('credentials and addresses', () => {
  test('an unknown key and a missing key get different errors', async () => {
    const { status, body } = await world.admin('GET', 'me', undefined, { authorization: 'Bearer hk_unknown' })
    assert.deepEqual(
      [status, body.reason, body.error],
      [
        401,
        'unauthorized',
        'This API key does not exist on this server. Check that you copied the whole key, and that it belongs to this server.',
      ],
    )
    const none = await world.admin('GET', 'me', undefined, { authorization: 'Basic abc' })
    assert.deepEqual([none.status, none.body.reason], [401, 'unauthorized'])
    assert.match(none.body.error, /^Sign in, or send an admin API key/)
  })

  test('a wrong method gets the list of the right ones, also at the address of an endpoint, known or not', async () => {
    assert.equal(
      (await world.admin('DELETE', 'webhooks')).body.error,
      'This address does not support DELETE. Use GET or POST.',
    )
    for (const url of [
      world.endpoint,
      `${world.endpoint}x`,
      `${world.baseUrl}/v1/ingest/ik_live_unknown`,
      `${world.baseUrl}/v1/webhooks/ik_live_unknown/first`,
    ]) {
      for (const method of ['PUT', 'DELETE', ...(url.includes('/v1/') ? ['GET'] : [])]) {
        const answer = await fetch(url, { method })
        const { error, reason } = (await answer.json()) as { error: string; reason: string }
        assert.deepEqual(
          [answer.status, answer.headers.get('allow'), reason, error],
          [405, 'POST', 'method_not_allowed', `This address does not support ${method}. Use POST.`],
        )
      }
    }
    assert.equal((await fetch(`${world.baseUrl}/nothing`)).status, 404)
  })
})
