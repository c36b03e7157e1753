import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import { RESERVED_ROOTS } from '@postroad/contract'
import {
  aName,
  anIngestKey,
  aRule,
  aWebhook,
  filedText,
  post,
  recordOf,
  submissionOf,
  type Posting,
} from '../stage/fixtures.ts'
import { aWorld, type Answer, type World } from '../stage/harness.ts'

/** The four POST forms of ingest and the three encodings (contract part 1, ingest rules; part 4; decisions on the 201 body). */
let world: World
let key: string
let webhook: Answer['body']

before(async () => {
  world = await aWorld()
  key = (await anIngestKey(world)).key
  webhook = await aWebhook(world, { slug: 'orders', dataset: 'orders' })
  await aRule(world, { name: 'everything', dataset: 'ruled' })
})
after(() => world.stop())

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
      test(`takes ${name}: 201, filed in its dataset, the body kept as it came`, async () => {
        const answer = await post(form.url(), body, posting)
        assert.equal(answer.status, 201, JSON.stringify(answer.body))
        assert.equal(answer.body.records[0].dataset, form.filed)
        assert.equal(await filedText(world, answer), data)
        assert.equal((await submissionOf(world, answer.body.id)).body, body)
      })
    }

    test('answers exactly the members of the 201 body, in their order', async () => {
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

test('every answer of ingest carries a Request-Id of its own, refusals too', async () => {
  const once = { headers: { 'idempotency-key': 'once' } }
  const { public_url } = await aWebhook(world, { handshake: { kind: 'url_verification' } })
  const answers = await Promise.all([
    post(world.endpoint, '{}'),
    post(world.endpoint, '{}', once),
    post(world.endpoint, '{'),
    post(`${world.endpoint}x`, '{}'),
  ])
  answers.push(await post(world.endpoint, '{}', once))
  // A challenge of digits, for the answer is the challenge and is read as JSON.
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

test('any other content type is read as JSON, and so is none', async () => {
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

test('content types are compared without case and without their parameters', async () => {
  const form = await post(world.endpoint, 'a=1', { type: 'Application/X-WWW-Form-Urlencoded; charset=UTF-8' })
  assert.equal(await filedText(world, form), '{"a":"1"}')
  const multipart = await post(world.endpoint, MULTIPART, { type: 'MULTIPART/Form-Data;boundary="b0undary"' })
  assert.equal(multipart.status, 201)
})

test('what a browser sends as FormData arrives: text fields, repeated names, files with names of any script', async () => {
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

test('a body that is no text is kept as bytes', async () => {
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

test('a submission keeps the facts of the request: headers, content type, source address, size, whose it is', async () => {
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

test('a header whose name has a word for a credential keeps its name, not its value', async () => {
  const secret = 'sender-secret-7'
  const names = [
    'x-gitlab-token',
    'x-auth-key',
    'x-api-key',
    'x-telegram-bot-api-secret-token',
    'x-amz-security-token',
    'x-session',
  ]
  const told = { 'x-tokenizer': 'plain', 'x-hub-signature-256': 'sha256=00', 'x-author': 'ann' }
  const answer = await post(webhook.public_url, '{}', {
    headers: { ...Object.fromEntries(names.map((name) => [name, secret])), ...told },
  })
  const { headers } = await submissionOf(world, answer.body.id)
  for (const name of names) assert.equal(headers[name], '•••', name)
  for (const [name, value] of Object.entries(told)) assert.equal(headers[name], value)
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

test('an unknown dataset is made on first write, once, however many events name it at the same time', async () => {
  const name = 'never_seen_before'
  const answers = await Promise.all(Array.from({ length: 20 }, () => post(`${webhook.public_url}/${name}`, '{}')))
  assert.ok(answers.every(({ status }) => status === 201))
  const { body } = await world.admin('GET', 'datasets?limit=200')
  assert.equal(body.datasets.filter((dataset: { name: string }) => dataset.name === name).length, 1)
})

const urlsNaming = (dataset: string): readonly string[] => [
  `${webhook.public_url}/${dataset}`,
  `${world.baseUrl}/v1/ingest/${key}/${dataset}`,
]

test('a dataset name is a letter, then up to 62 letters, digits or underscores; others are 400 invalid_dataset', async () => {
  for (const name of ['a', 'Z9_', `a${'b'.repeat(62)}`]) {
    for (const url of urlsNaming(name)) assert.equal((await post(url, '{}')).status, 201, name)
  }
  for (const name of [
    '1a',
    '_a',
    'a-b',
    'a.b',
    `a${'b'.repeat(63)}`,
    '%C3%A9',
    'a%00',
    'a%20b',
    'a%2Fb',
    '..a',
    "a'--",
  ]) {
    for (const url of urlsNaming(name)) {
      const answer = await post(url, '{}')
      assert.deepEqual([answer.status, answer.body.reason], [400, 'invalid_dataset'], name)
    }
  }
})

test('an unknown endpoint or ingest key is 404, also with the right workspace and project, or a wrong one', async () => {
  const path = new URL(webhook.public_url).pathname
  const [, workspace, project, slug] = path.split('/')
  const unknown: readonly (readonly [string, string])[] = [
    [`/${workspace}/${project}/${slug}x`, 'endpoint_not_found'],
    [`/${workspace}/other/${slug}`, 'endpoint_not_found'],
    [`/other/${project}/${slug}`, 'endpoint_not_found'],
    [`/${workspace}/${project}/orders`, 'endpoint_not_found'],
    [`/${workspace}/${project}/${key}`, 'endpoint_not_found'],
    [`/v1/ingest/${key}x`, 'ingest_key_not_found'],
    [`/v1/ingest/${slug}`, 'ingest_key_not_found'],
    [`/v1/ingest/${slug}/orders`, 'ingest_key_not_found'],
    [`/v1/ingest/${world.installed.api_key}/orders`, 'ingest_key_not_found'],
    [`/v1/webhooks/${key}x/orders`, 'ingest_key_not_found'],
    [`/v1/webhooks/${key}/unknown`, 'endpoint_not_found'],
    [`/v1/webhooks/${key}/${slug}`, 'endpoint_not_found'],
  ]
  for (const [at, reason] of unknown) {
    const answer = await post(world.baseUrl + at, '{}')
    assert.deepEqual([answer.status, answer.body.reason], [404, reason], at)
  }
})

/** What a POST and a handshake below a root are refused with. */
async function reasonsAt(root: string): Promise<readonly string[]> {
  const url = `${world.baseUrl}/${root}/default/anything`
  const asked = await fetch(`${url}?hub.mode=subscribe&hub.verify_token=t&hub.challenge=yes`)
  const text = await asked.text()
  // What is no route is the page of the console.
  const said = text.startsWith('<') ? {} : JSON.parse(text)
  const answers = [await post(url, '{}'), { status: asked.status, body: said }]
  for (const { status } of answers) assert.ok(status >= 400 && status < 500, root)
  return answers.map(({ body }) => body.reason)
}

test('a reserved root never reaches ingest', async () => {
  assert.deepEqual(await reasonsAt('unreserved'), ['endpoint_not_found', 'endpoint_not_found'])
  for (const root of [...RESERVED_ROOTS, '%61dmin'])
    assert.ok(!(await reasonsAt(root)).includes('endpoint_not_found'), root)
})

test('a disabled endpoint answers 503, not 404, on its URL and by ingest key', async () => {
  const slug = aName('off').replace(' ', '-')
  const off = await aWebhook(world, { slug, enabled: false })
  for (const url of [off.public_url, `${off.public_url}/elsewhere`, `${world.baseUrl}/v1/webhooks/${key}/${slug}`]) {
    const answer = await post(url, '{}')
    assert.deepEqual([answer.status, answer.body.reason], [503, 'endpoint_disabled'])
  }
})

test('signature verification holds on the URL and on /v1/webhooks/{ingest_key}/{slug}', async () => {
  const slug = aName('signed').replace(' ', '-')
  const signed = await aWebhook(world, { slug, verification: { scheme: 'hmac', secret: 'k' } })
  const right = createHmac('sha256', 'k').update('{}').digest('hex')
  // With a dataset behind it, it is the same URL.
  for (const url of [
    signed.public_url,
    `${signed.public_url}/elsewhere`,
    `${world.baseUrl}/v1/webhooks/${key}/${slug}`,
  ]) {
    const answer = await post(url, '{}')
    assert.deepEqual([answer.status, answer.body.reason, answer.body.scheme], [401, 'missing_header', 'hmac'])
    const forged = await post(url, '{ }', { headers: { 'x-signature': right } })
    assert.deepEqual([forged.status, forged.body.reason], [401, 'bad_signature'])
    assert.equal((await post(url, '{}', { headers: { 'x-signature': right } })).status, 201)
  }
})

test('an endpoint made without_secret answers 401 bad_signature until a secret is set', async () => {
  const made = await aWebhook(world, { verification: { scheme: 'hmac', prefix: 'v=', without_secret: true } })
  assert.equal(made.verification.has_secret, false)
  const headers = { 'x-signature': 'v=0e0e' }
  const unset = await post(made.public_url, '{}', { headers })
  assert.deepEqual([unset.status, unset.body.reason], [401, 'bad_signature'])
  const bare = await post(made.public_url, '{}')
  assert.deepEqual([bare.status, bare.body.reason], [401, 'bad_signature'])
  await world.admin('PATCH', `webhooks/${made.id}`, { verification: { scheme: 'hmac', secret: 'k' } })
  const signature = `v=${createHmac('sha256', 'k').update('{}').digest('hex')}`
  const set = await post(made.public_url, '{}', { headers: { 'x-signature': signature } })
  assert.equal(set.status, 201)
})

test('a refused request stores nothing', async () => {
  const signed = await aWebhook(world, { verification: { scheme: 'hmac', secret: 'k' } })
  await post(signed.public_url, '{}', { headers: { 'x-signature': 'nonsense' } })
  await post(`${signed.public_url}/not-a-name`, '{}')
  const { body } = await world.admin('GET', `submissions?webhook_id=${signed.id}`)
  assert.deepEqual(body.submissions, [])
})

const aBodyOf = (bytes: number): string => `"${'a'.repeat(bytes - 2)}"`

test('a body may have as many bytes as the limit says, and not one more', async () => {
  assert.equal((await post(world.endpoint, aBodyOf(1_048_576))).status, 201)
  const answer = await post(world.endpoint, aBodyOf(1_048_577))
  assert.deepEqual([answer.status, answer.body.reason], [413, 'payload_too_large'])
})

test('a slash at the end is the same endpoint in each of the four forms, and the same path for a repeat', async () => {
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
