import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  anIngestKey,
  aRule,
  aWebhook,
  filedText,
  post,
  recordOf,
  submissionOf,
  type Posting,
} from '../stage/fixtures.ts'
import type { Answer, World } from '../stage/harness.ts'
import { onWorldStage } from '../stage/world-stage.ts'

/**
 * The four POST forms of ingest and the three encodings (contract part 1, ingest rules; part 4; decisions on the 201
 * body).
 */
let world: World
let key: string
let webhook: Answer['body']

onWorldStage(
  async (made) => {
    ;({ world } = made)
    key = (await anIngestKey(world)).key
    webhook = await aWebhook(world, { slug: 'orders', dataset: 'orders' })
    await aRule(world, { name: 'everything', dataset: 'ruled' })
  },
  { loops: [] },
)

type Form = {
  readonly name: string
  readonly url: () => string
  readonly dataset: string | null
  readonly filed: string
  readonly rules?: true
}

const FORMS: readonly Form[] = [
  { name: 'POST /{workspace}/{project}/{webhook}', url: () => webhook.public_url, dataset: 'orders', filed: 'orders' },
  {
    name: 'POST /{workspace}/{project}/{webhook}/{dataset}',
    url: () => `${webhook.public_url}/overridden`,
    dataset: 'overridden',
    filed: 'overridden',
  },
  {
    name: 'POST /v1/ingest/{ingest_key}',
    url: () => `${world.baseUrl}/v1/ingest/${key}`,
    dataset: null,
    filed: 'ruled',
    rules: true,
  },
  {
    name: 'POST /v1/ingest/{ingest_key}/{dataset}',
    url: () => `${world.baseUrl}/v1/ingest/${key}/named`,
    dataset: 'named',
    filed: 'named',
  },
  {
    name: 'POST /v1/webhooks/{ingest_key}/{slug}',
    url: () => `${world.baseUrl}/v1/webhooks/${key}/orders`,
    dataset: 'orders',
    filed: 'orders',
  },
]

const MULTIPART = [
  '--b0undary',
  'Content-Disposition: form-data; name="a"',
  '',
  '1',
  '--b0undary',
  'Content-Disposition: form-data; name="f"; filename="hello.txt"',
  'Content-Type: text/plain',
  '',
  'hello',
  '--b0undary--',
  '',
].join('\r\n')

const ENCODINGS: readonly (Posting & { readonly name: string; readonly body: string; readonly data: string })[] = [
  { name: 'JSON', body: '{ "a" : 1.0 }', data: '{ "a" : 1.0 }' },
  {
    name: 'application/x-www-form-urlencoded',
    type: 'application/x-www-form-urlencoded',
    body: 'a=1&b=x+y&a=2&c%5B%5D=3',
    data: '{"a":["1","2"],"b":"x y","c[]":"3"}',
  },
  {
    name: 'multipart/form-data',
    type: 'multipart/form-data; boundary=b0undary',
    body: MULTIPART,
    data: '{"a":"1","f":{"filename":"hello.txt","content_type":"text/plain","size":5,"base64":"aGVsbG8="}}',
  },
]

for (const form of FORMS) {
  describe(form.name, () => {
    for (const { name, body, data, ...posting } of ENCODINGS) {
      test(`ingest accepts ${name}: 201, filed in its dataset, with the body stored as it came`, async () => {
        const answer = await post(form.url(), body, posting)
        assert.equal(answer.status, 201, JSON.stringify(answer.body))
        assert.equal(answer.body.records[0].dataset, form.filed)
        assert.equal(await filedText(world, answer), data)
        assert.equal((await submissionOf(world, answer.body.id)).body, body)
      })
    }

    test('a 201 body has exactly the members of the contract, in their order', async () => {
      const answer = await post(form.url(), '{}')
      const members = [
        'id',
        'status',
        'dataset',
        'received_at',
        'duplicate',
        'records',
        ...(form.rules === undefined ? [] : ['routed']),
      ]
      assert.deepEqual(Object.keys(answer.body), members)
      const { id, records, routed, ...rest } = answer.body
      assert.match(id, /^sub_[0-7][0-9a-hjkmnp-tv-z]{25}$/)
      assert.deepEqual(rest, {
        status: 'accepted',
        dataset: form.dataset,
        received_at: '2026-01-15T12:00:00.000Z',
        duplicate: false,
      })
      assert.equal(records.length, 1)
      assert.deepEqual(Object.keys(records[0]), ['id', 'dataset'])
      assert.match(records[0].id, /^rec_/)
      if (form.rules !== undefined) {
        assert.deepEqual(Object.keys(routed[0]), ['rule_id', 'rule', 'dataset', 'record_id'])
        assert.match(routed[0].rule_id, /^rul_/)
        assert.deepEqual(
          [routed[0].rule, routed[0].dataset, routed[0].record_id],
          ['everything', 'ruled', records[0].id],
        )
      }
    })
  })
}

test('every answer of ingest carries a separate Request-Id, also a refusal', async () => {
  const once = { headers: { 'idempotency-key': 'once' } }
  const { public_url } = await aWebhook(world, { handshake: { kind: 'url_verification' } })
  const answers = await Promise.all([
    post(world.endpoint, '{}'),
    post(world.endpoint, '{}', once),
    post(world.endpoint, '{'),
    post(`${world.endpoint}x`, '{}'),
  ])
  answers.push(await post(world.endpoint, '{}', once))
  // The challenge consists of digits, because the answer is the challenge and the helper parses it as JSON.
  answers.push(await post(public_url, '{"type":"url_verification","challenge":"7"}'))
  const preflight = await fetch(world.endpoint, {
    method: 'OPTIONS',
    headers: { origin: 'https://shop.example', 'access-control-request-method': 'POST' },
  })
  answers.push({ status: preflight.status, headers: preflight.headers, body: undefined })
  assert.deepEqual(
    answers.map(({ status }) => status),
    [201, 201, 400, 404, 200, 200, 204],
  )
  const ids = answers.map(({ headers }) => headers.get('request-id'))
  assert.ok(ids.every((id) => /^req_\w+$/.test(id ?? '')))
  assert.equal(new Set(ids).size, ids.length)
})

test('a body with any other content type, or with none, is read as JSON', async () => {
  for (const type of [
    'text/plain',
    'application/xml',
    'application/octet-stream',
    'application/cloudevents+json',
    null,
  ]) {
    const answer = await post(world.endpoint, '{"a":1}', { type })
    assert.equal(answer.status, 201, String(type))
    const refused = await post(world.endpoint, 'a=1', { type })
    assert.deepEqual([refused.status, refused.body.reason], [400, 'invalid_body'], String(type))
  }
})

test('content types are compared case-insensitively and without their parameters', async () => {
  const form = await post(world.endpoint, 'a=1', { type: 'Application/X-WWW-Form-Urlencoded; charset=UTF-8' })
  assert.equal(await filedText(world, form), '{"a":"1"}')
  const multipart = await post(world.endpoint, MULTIPART, { type: 'MULTIPART/Form-Data;boundary="b0undary"' })
  assert.equal(multipart.status, 201)
})

test('a FormData body of a browser arrives: text fields, repeated names, and files with names in any script', async () => {
  const form = new FormData()
  form.append('who', 'Zoë ☃')
  form.append('tag', 'a')
  form.append('tag', 'b')
  form.append('file', new Blob([new Uint8Array([0, 255, 10])], { type: 'image/png' }), 'снимок "1".png')
  const answer = await post(world.endpoint, form)
  assert.equal(answer.status, 201)
  const { data } = await recordOf(world, answer.body.records[0].id)
  assert.deepEqual([data.who, data.tag], ['Zoë ☃', ['a', 'b']])
  assert.deepEqual(
    { ...data.file, filename: undefined },
    { filename: undefined, content_type: 'image/png', size: 3, base64: 'AP8K' },
  )
  assert.match(data.file.filename, /^снимок .*1.*\.png$/)
})

test('a body that is not text is stored as bytes', async () => {
  const bytes = Buffer.concat([
    Buffer.from('--b\r\nContent-Disposition: form-data; name="f"; filename="x"\r\n\r\n'),
    Buffer.from([0, 1, 0xff, 0xfe]),
    Buffer.from('\r\n--b--\r\n'),
  ])
  const answer = await post(world.endpoint, new Uint8Array(bytes), { type: 'multipart/form-data; boundary=b' })
  assert.equal(answer.status, 201)
  const submission = await submissionOf(world, answer.body.id)
  assert.deepEqual(
    [submission.body, submission.body_base64, submission.body_bytes],
    [null, bytes.toString('base64'), bytes.length],
  )
})

test('a submission stores the facts of the request: headers, content type, source address, size and owner', async () => {
  const answer = await post(webhook.public_url, '{"é":1}', {
    headers: { 'x-custom': 'one', authorization: 'Bearer top secret', cookie: 'a=b' },
  })
  const submission = await submissionOf(world, answer.body.id)
  assert.equal(submission.webhook_id, webhook.id)
  assert.equal(submission.ingest_key_id, null)
  assert.equal(submission.content_type, 'application/json')
  assert.equal(submission.body_bytes, 8)
  assert.equal(submission.source_ip, '127.0.0.1')
  assert.equal(submission.headers['x-custom'], 'one')
  assert.ok(!JSON.stringify(submission).includes('top secret'))
  assert.ok(!JSON.stringify(submission.headers).includes('a=b'))
  assert.deepEqual(submission.record_ids, [answer.body.records[0].id])
})

test('a header whose name contains a word for a credential is stored without its value', async () => {
  const secret = 'sender-secret-7'
  const names = [
    'x-gitlab-token',
    'x-auth-key',
    'x-api-key',
    'x-telegram-bot-api-secret-token',
    'x-amz-security-token',
    'x-session',
  ]
  const reported = { 'x-tokenizer': 'plain', 'x-hub-signature-256': 'sha256=00', 'x-author': 'ann' }
  const answer = await post(webhook.public_url, '{}', {
    headers: { ...Object.fromEntries(names.map((name) => [name, secret])), ...reported },
  })
  const { headers } = await submissionOf(world, answer.body.id)
  for (const name of names) assert.equal(headers[name], '•••', name)
  for (const [name, value] of Object.entries(reported)) assert.equal(headers[name], value)
})

test('the query string and the method are stored with a submission, with credentials masked, by every address', async () => {
  const mine = (await anIngestKey(world)).key
  const slug = new URL(webhook.public_url).pathname.split('/').at(-1) ?? ''
  const query = `tenant=acme&ref=Z9%20Q7&tag=b&tag=a&token=hush&of=${mine}`
  const addresses = [
    webhook.public_url,
    `${world.baseUrl}/v1/ingest/${mine}`,
    `${world.baseUrl}/v1/ingest/${mine}/named`,
    `${world.baseUrl}/v1/webhooks/${mine}/orders`,
  ]
  for (const url of addresses) {
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    const { method, query: stored } = await submissionOf(world, (await post(`${url}?${query}`, '{}')).body.id)
    assert.deepEqual([method, stored], ['POST', 'tenant=acme&ref=Z9%20Q7&tag=b&tag=a&token=•••&of=•••'], url)
  }
  const named = await post(`${webhook.public_url}?me=${slug}`, '{}')
  assert.equal((await submissionOf(world, named.body.id)).query, 'me=•••')
  const plain = await submissionOf(world, (await post(webhook.public_url, '{}')).body.id)
  assert.deepEqual([plain.method, plain.query], ['POST', null])
  const together = await Promise.all(
    ['?a=1', '', '?b=2'].map(async (more) => (await post(webhook.public_url + more, '{}')).body.id),
  )
  const stored = await Promise.all(together.map(async (id) => (await submissionOf(world, id)).query))
  assert.deepEqual(stored, ['a=1', null, 'b=2'])
})

test('a submission by ingest key names the key, and with a slug the endpoint too', async () => {
  const mine = await anIngestKey(world)
  const whole = await submissionOf(world, (await post(`${world.baseUrl}/v1/ingest/${mine.key}/named`, '{}')).body.id)
  assert.deepEqual([whole.ingest_key_id, whole.webhook_id], [mine.id, null])
  const viaSlug = await submissionOf(
    world,
    (await post(`${world.baseUrl}/v1/webhooks/${mine.key}/orders`, '{}')).body.id,
  )
  assert.deepEqual([viaSlug.ingest_key_id, viaSlug.webhook_id], [mine.id, webhook.id])
})

test('the first write creates an unknown dataset, once, however many events name it at the same time', async () => {
  const name = 'never_seen_before'
  const answers = await Promise.all(Array.from({ length: 20 }, () => post(`${webhook.public_url}/${name}`, '{}')))
  assert.ok(answers.every(({ status }) => status === 201))
  const { body } = await world.admin('GET', 'datasets?limit=200')
  assert.equal(body.datasets.filter((dataset: { name: string }) => dataset.name === name).length, 1)
})

test('a trailing slash names the same endpoint in each of the four forms, and the same path for a repeat', async () => {
  const asking = await aWebhook(world, { handshake: { kind: 'hub_challenge', verify_token: 'v' } })
  const paths = [
    asking.public_url,
    `${asking.public_url}/Named`,
    `${world.baseUrl}/v1/ingest/${key}`,
    `${world.baseUrl}/v1/ingest/${key}/Named`,
    `${world.baseUrl}/v1/webhooks/${key}/${asking.slug}`,
  ]
  for (const [n, path] of paths.entries()) {
    const headers = { 'Idempotency-Key': `slash-${n}` }
    const first = await post(`${path}/`, '{"n":1}', { headers })
    assert.equal(first.status, 201, path)
    const repeat = await post(path, '{"n":1}', { headers })
    assert.deepEqual([repeat.status, repeat.body.id], [200, first.body.id], path)
    assert.equal((await post(path, '{"n":2}', { headers })).status, 422)
  }
  assert.equal((await post(`${asking.public_url}//`, '{}')).status, 404)
  const query = 'hub.mode=subscribe&hub.challenge=echo&hub.verify_token=v'
  assert.equal(await (await fetch(`${asking.public_url}/?${query}`)).text(), 'echo')
})
