import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { after, before, test } from 'node:test'
import {
  assertRefused,
  call,
  created,
  enterPlaces,
  home,
  itemsOf,
  leavePlaces,
  sink,
  world,
  type Heard,
} from '../stage/admin-asking.ts'
import { aName, post } from '../stage/fixtures.ts'

/** The resources of the admin API, room by room: created, changed, bounded, deleted. */
before(enterPlaces)
after(leavePlaces)

test('a dataset can be created, described and found; its name is unique in a project', async () => {
  const { dataset } = await created(home, 'datasets', { name: 'Orders_1' })
  assert.deepEqual([dataset.name, dataset.description], ['Orders_1', null])
  assertRefused(await call(home, 'POST datasets', { body: { name: 'Orders_1' } }), 409, 'name_taken')
  const changed = await call(home, `PATCH datasets/${dataset.id}`, { body: { description: 'What is sold' } })
  assert.equal(changed.body.dataset.description, 'What is sold')
  assert.deepEqual((await call(home, `GET datasets/${dataset.id}`)).body, changed.body)
  for (const name of ['', '1x', 'a-b', 'a b', `a${'b'.repeat(63)}`, 7, null])
    assertRefused(await call(home, 'POST datasets', { body: { name } }), 400, 'invalid_request')
})

test('a project can be created with a slug from its name, renamed and deleted; the Default project stays', async () => {
  const { project } = await created(home, 'projects', { name: 'Élan & Co' })
  assert.deepEqual([project.slug, project.is_default], ['e-lan-co', false])
  assertRefused(await call(home, 'POST projects', { body: { name: 'x', slug: 'e-lan-co' } }), 409, 'slug_taken')
  for (const slug of ['', '-a', 'a-', 'A', 'a_b', 'a'.repeat(64)])
    assertRefused(await call(home, 'POST projects', { body: { name: 'x', slug } }), 400, 'invalid_request')
  const renamed = await call(home, `PATCH projects/${project.id}`, { body: { name: 'Other' } })
  assert.deepEqual([renamed.body.project.name, renamed.body.project.slug], ['Other', 'e-lan-co'])
  assert.deepEqual((await call(home, `DELETE projects/${project.id}`)).body, { ok: true })
  assertRefused(await call(home, `DELETE projects/${project.id}`), 404, 'not_found')
  assertRefused(await call(home, `DELETE projects/${home.project}`), 409, 'default_project')
})

test('a webhook can be created from its name, changed member by member, and is gone after its deletion', async () => {
  const { webhook } = await created(home, 'webhooks', { name: 'Shop Orders!' })
  const { name, slug, dataset, enabled, criteria, mappings, verification, version } = webhook
  assert.deepEqual(
    { name, slug, dataset, enabled, criteria, mappings, verification, version },
    {
      name: 'Shop Orders!',
      slug: 'shop-orders',
      dataset: 'shop_orders',
      enabled: true,
      criteria: [],
      mappings: [],
      verification: { scheme: 'none' },
      version: 1,
    },
  )
  assert.match(webhook.webhook_slug, /^[0-9A-Za-z]{22,}$/, 'at least 128 bits')
  assert.equal(webhook.public_path, `/main/default/${webhook.webhook_slug}`)
  assert.equal(webhook.public_url, world.baseUrl + webhook.public_path)
  assert.deepEqual([webhook.previous_public_url, webhook.previous_url_expires_at], [null, null])
  assertRefused(
    await call(home, 'POST webhooks', { body: { name: 'Shop orders', slug: 'shop-orders' } }),
    409,
    'slug_taken',
  )
  const namesake = await call(home, 'POST webhooks', { body: { name: 'Shop orders' } })
  assert.match(namesake.body.webhook.slug, /^shop-orders-[a-z0-9]{6}$/)
  assert.equal(namesake.body.webhook.dataset, namesake.body.webhook.slug.replaceAll('-', '_'))
  const other = await created(home, 'webhooks', {})
  assertRefused(
    await call(home, `PATCH webhooks/${other.webhook.id}`, { body: { slug: 'shop-orders' } }),
    409,
    'slug_taken',
  )
  const patch = { criteria: [{ path: 'kind', equals: 'order' }], enabled: false }
  const changed = await call(home, `PATCH webhooks/${webhook.id}`, { body: patch })
  assert.deepEqual(changed.body.webhook, {
    ...webhook,
    ...patch,
    version: 2,
    updated_at: changed.body.webhook.updated_at,
  })
  assert.equal((await call(home, `DELETE webhooks/${webhook.id}`)).body.ok, true)
  assertRefused(await call(home, `GET webhooks/${webhook.id}`), 404, 'not_found')
  assert.equal((await fetch(webhook.public_url, { method: 'POST', body: '{}' })).status, 404)
})

test('a verification secret is stored, replaced and never shown; settings of another scheme are refused', async () => {
  const { webhook } = await created(home, 'webhooks', {
    verification: { scheme: 'hmac', secret: 'first secret', prefix: 'sha256=' },
  })
  const { verification } = webhook
  assert.deepEqual(verification, {
    scheme: 'hmac',
    header: 'X-Signature',
    algorithm: 'sha256',
    encoding: 'hex',
    prefix: 'sha256=',
    has_secret: true,
    previous_secret_expires_at: null,
  })
  const kept = await call(home, `PATCH webhooks/${webhook.id}`, {
    body: { verification: { scheme: 'hmac', encoding: 'base64' } },
  })
  assert.deepEqual(
    [kept.body.webhook.verification.has_secret, kept.body.webhook.verification.encoding],
    [true, 'base64'],
  )
  const refused = [
    { scheme: 'code_host' },
    { scheme: 'code_host', secret: 'x', header: 'X-A' },
    { scheme: 'none', secret: 'x' },
    { scheme: 'chat_platform', secret: 'x', tolerance_seconds: 29 },
    { scheme: 'hmac', secret: 'x', prefix: 'x'.repeat(33) },
    { scheme: 'hmac', secret: 'x'.repeat(513) },
    { scheme: 'hmac', secret: '' },
    { scheme: 'hmac', without_secret: true, secret: 'x' },
    { scheme: 'none', without_secret: true },
    { scheme: 'unheard_of', secret: 'x' },
  ]
  for (const bad of refused) {
    const answer = await call(home, 'POST webhooks', { body: { name: aName('bad'), verification: bad } })
    assertRefused(answer, 400, 'invalid_request')
    assert.match(answer.body.error, /verification/, JSON.stringify(bad))
  }
  const pending = await created(home, 'webhooks', { verification: { scheme: 'code_host', without_secret: true } })
  assert.equal(pending.webhook.verification.has_secret, false)
})

const digest = (secret: string, encoding: 'hex' | 'base64' = 'hex'): string =>
  createHmac('sha256', secret).update('{}').digest(encoding)

test('a change of verification: another scheme needs a new secret, the same scheme preserves the stored one, and without_secret is only for new endpoints', async () => {
  const { webhook } = await created(home, 'webhooks', { verification: { scheme: 'hmac', secret: 'held' } })
  const change = (verification: object): Promise<Heard> =>
    call(home, `PATCH webhooks/${webhook.id}`, { body: { verification } })
  const statusBy = async (headers: Record<string, string>): Promise<number> =>
    (await post(webhook.public_url, '{}', { headers })).status
  const refused = [
    { scheme: 'code_host' },
    { scheme: 'payments_provider', tolerance_seconds: 60 },
    ...['code_host', 'hmac', 'none'].map((scheme) => ({ scheme, without_secret: true })),
    { scheme: 'hmac', secret: 'x', without_secret: true },
  ]
  for (const bad of refused) {
    const answer = await change(bad)
    assertRefused(answer, 400, 'invalid_request')
    assert.match(answer.body.error, /^verification/, JSON.stringify(bad))
  }
  assert.equal(await statusBy({ 'x-signature': digest('held') }), 201, 'nothing has changed')
  await change({ scheme: 'hmac', encoding: 'base64' })
  assert.deepEqual(
    [await statusBy({ 'x-signature': digest('held', 'base64') }), await statusBy({ 'x-signature': digest('held') })],
    [201, 401],
  )
  const { body } = await change({ scheme: 'code_host', secret: 'new' })
  assert.deepEqual(body.webhook.verification, {
    scheme: 'code_host',
    has_secret: true,
    previous_secret_expires_at: null,
  })
  assert.deepEqual(
    [
      await statusBy({ 'x-hub-signature-256': `sha256=${digest('new')}` }),
      await statusBy({ 'x-hub-signature-256': `sha256=${digest('held')}` }),
    ],
    [201, 401],
  )
})

test('a rule can be created, changed and deleted; its name is unique in a project', async () => {
  const conditions = [
    { path: 'a.b', equals: 'x' },
    { path: 'n', op: 'in', value: [1, 'two'] },
  ]
  const { rule } = await created(home, 'rules', {
    name: 'Big ones',
    dataset: 'big',
    conditions,
    mappings: [{ target: 'id', path: 'a.id' }],
  })
  assert.deepEqual([rule.enabled, rule.conditions], [true, conditions])
  assertRefused(await call(home, 'POST rules', { body: { name: 'Big ones', dataset: 'big' } }), 409, 'name_taken')
  const other = await created(home, 'rules', { dataset: 'big' })
  assertRefused(await call(home, `PATCH rules/${other.rule.id}`, { body: { name: 'Big ones' } }), 409, 'name_taken')
  const changed = await call(home, `PATCH rules/${rule.id}`, { body: { enabled: false, conditions: [] } })
  assert.deepEqual(changed.body.rule, {
    ...rule,
    enabled: false,
    conditions: [],
    updated_at: changed.body.rule.updated_at,
  })
  assert.equal((await call(home, `DELETE rules/${rule.id}`)).body.ok, true)
  assertRefused(await call(home, `GET rules/${rule.id}`), 404, 'not_found')
})

test('a destination can be created with the defaults of the contract, changed member by member, and deleted', async () => {
  const { destination, signing_secret } = await created(home, 'destinations', {
    name: 'Ledger',
    url: sink.url,
    datasets: ['Nothing'],
  })
  const { id: _id, created_at: _created, updated_at: _updated, ...rest } = destination
  assert.deepEqual(rest, {
    name: 'Ledger',
    description: null,
    customer: null,
    kind: 'http',
    config: { kind: 'http' },
    url: sink.url,
    enabled: true,
    disabled_reason: null,
    disabled_at: null,
    datasets: ['Nothing'],
    conditions: [],
    headers: {},
    retry: { schedule_seconds: null },
    timeout_ms: 15_000,
    max_in_flight: 10,
    rate_limit: null,
    ordering: 'none',
    breaker: {
      state: 'closed',
      opened_at: null,
      next_probe_at: null,
      failures_in_row: 0,
      failing_since: null,
      last_error: null,
      last_status: null,
    },
    signing: { header: 'both', scheme: 'hmac' },
    public_keys: [],
    previous_secret_expires_at: null,
    auth: { kind: 'none' },
    tls: null,
    proxy: null,
    payload_template: null,
    body: 'envelope',
    forward_headers: [],
    transform_id: null,
  })
  assert.match(signing_secret, /^whsec_[A-Za-z0-9+/]{43}=$/)
  assertRefused(await call(home, 'POST destinations', { body: { name: 'Ledger', url: sink.url } }), 409, 'name_taken')
  const other = await created(home, 'destinations', { url: sink.url, datasets: ['Nothing'] })
  assertRefused(
    await call(home, `PATCH destinations/${other.destination.id}`, { body: { name: 'Ledger' } }),
    409,
    'name_taken',
  )
  const patch = {
    headers: { 'X-Key': 'v' },
    retry: { schedule_seconds: [0, 1] },
    signing: { header: 'service', scheme: 'hmac' },
    datasets: null,
    enabled: false,
  }
  const changed = (await call(home, `PATCH destinations/${destination.id}`, { body: patch })).body.destination
  const { disabled_at, updated_at } = changed
  const headers = { 'X-Key': { has_value: true } }
  assert.deepEqual(changed, { ...destination, ...patch, headers, disabled_reason: 'by_hand', disabled_at, updated_at })
  assert.deepEqual((await call(home, `PATCH destinations/${destination.id}`, { body: {} })).body.destination, changed)
  assert.equal((await call(home, `DELETE destinations/${destination.id}`)).body.ok, true)
  assertRefused(await call(home, `GET destinations/${destination.id}`), 404, 'not_found')
})

test('the bounds of a destination apply', async () => {
  const bad: object[] = [
    { timeout_ms: 999 },
    { timeout_ms: 60_001 },
    { timeout_ms: 1_000.5 },
    { timeout_ms: '2000' },
    { max_in_flight: 0 },
    { max_in_flight: 1_001 },
    { ordering: null },
    { ordering: 'path' },
    { ordering: {} },
    { ordering: { path: '' } },
    { ordering: { path: 'a..b' } },
    { ordering: { path: 'a', by: 'b' } },
    { retry: { schedule_seconds: [] } },
    { retry: { schedule_seconds: [-1] } },
    { retry: { schedule_seconds: [86_401] } },
    { retry: { schedule_seconds: Array.from({ length: 101 }, () => 1) } },
    { retry: {} },
    { retry: { schedule_seconds: [1], jitter: 0 } },
    { datasets: ['a-b'] },
    { datasets: 'a' },
    { signing: { header: 'none' } },
    { enabled: 'yes' },
    { name: '' },
    { name: '  ' },
    { name: 'x'.repeat(121) },
    { url: '' },
    { url: `https://example.com/${'x'.repeat(2_048)}` },
    { url: 7 },
    { headers: { 'X-A': 1 } },
    { headers: [] },
    { headers: Object.fromEntries(Array.from({ length: 33 }, (_, index) => [`X-${index}`, 'v'])) },
    { conditions: [{ path: 'a' }] },
    { conditions: [{ path: 'a', op: 'regex', value: '(a+)+' }] },
    { conditions: [{ path: 'a', op: 'exists', value: 1 }] },
  ]
  for (const members of bad) {
    const answer = await call(home, 'POST destinations', { body: { name: aName('bad'), url: sink.url, ...members } })
    assertRefused(answer, 400, 'invalid_request')
    assert.ok(
      answer.body.error.startsWith(Object.keys(members)[0] ?? ''),
      `${JSON.stringify(members)}: ${answer.body.error}`,
    )
  }
})

async function refusal(rule: object): Promise<string> {
  const { status, body } = await call(home, 'POST rules', { body: { name: aName('bad'), dataset: 'ok', ...rule } })
  assert.equal(status, 400)
  return body.error
}

test('an error gives the place of a fault, and a valid form', async () => {
  assert.equal(await refusal({ name: undefined }), 'name is required (string).')
  assert.equal(await refusal({ name: 7 }), 'name must be of type string, not number.')
  assert.match(await refusal({ name: 'x'.repeat(300) }), /^name must have at most \d+ characters\.$/)
  assert.equal(
    await refusal({ dataset: '9' }),
    'dataset must start with a letter, followed by up to 62 letters, digits or underscores.',
  )
  assert.match(
    await refusal({
      conditions: [
        { path: 'a', equals: 1 },
        { path: 'b', op: 'gt', value: 'x' },
      ],
    }),
    /^conditions\[1\]/,
  )
  assert.equal(
    await refusal({ conditions: [{ path: 'a', op: 'regex', value: '(' }] }),
    'conditions[0].value: The pattern does not compile: Unterminated group, near character 1. Correct it there.',
  )
  assert.equal(
    await refusal({ conditions: [{ path: 'a', op: 'regex', value: '^(a)\\1' }] }),
    'conditions[0].value: The pattern refers back to a group with \\1 at character 5. Write out the text that the group stands for.',
  )
  assert.match(await refusal({ mappings: [{ target: 'a' }] }), /^mappings\[0\]/)
  assert.match(await refusal({ conditions: [{ path: 'a', equals: 1, extra: 2 }] }), /^conditions\[0\].*extra/)
})

test('an ingest key works until it is revoked, and is then gone from the list', async () => {
  const { ingest_key, key } = await created(home, 'ingest-keys', {})
  assert.match(key, /^ik_live_[0-9A-Za-z]{43}$/)
  assert.equal(ingest_key.shown_prefix, key.slice(0, 12))
  const send = async (): Promise<number> =>
    (await fetch(`${world.baseUrl}/v1/ingest/${key}/filed`, { method: 'POST', body: '{}' })).status
  assert.equal(await send(), 201)
  assert.deepEqual((await call(home, `DELETE ingest-keys/${ingest_key.id}`)).body, { ok: true })
  assert.equal(await send(), 404)
  assertRefused(await call(home, `DELETE ingest-keys/${ingest_key.id}`), 404, 'not_found')
  assert.ok(
    !itemsOf(await call(home, 'GET ingest-keys', { query: { limit: '200' } })).some(({ id }) => id === ingest_key.id),
  )
})

test('me names the caller, the workspace, and the key', async () => {
  const { body } = await call(home, 'GET me')
  assert.deepEqual([body.role, body.workspace.slug, body.default_project.slug], ['admin', 'main', 'default'])
  assert.deepEqual(Object.keys(body.api_key), ['id', 'project_id'])
  assert.deepEqual(
    [body.user.id.slice(0, 4), body.api_key.id.slice(0, 4), body.api_key.project_id],
    ['usr_', 'key_', null],
  )
})
