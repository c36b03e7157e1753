import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { describe, test } from 'node:test'
import { anIngestKey, aRule, aWebhook, post, statement } from '../stage/fixtures.ts'
import {
  onConfigStage,
  world,
  database,
  sink,
  textOf,
  exported,
  planned,
  applied,
  refused,
  endpoint,
  urls,
  items,
  aFullProject,
  aProject,
  type Config,
} from '../stage/config-stage.ts'

onConfigStage()

describe('POST config/apply', () => {
  test('the hours of a quarantine are exported, planned and applied, to a new endpoint and to one that exists', async () => {
    const [source, target] = [await aProject(), await aProject()]
    const { id } = await aWebhook(source, endpoint('shop'))
    await source.admin('PUT', `webhooks/${id}/quarantine`, { hours: 24 })
    const config = await exported(source)
    assert.equal(config['endpoints'][0].quarantine_hours, 24)
    assert.equal((await planned(source, config))['empty'], true)
    await applied(target, config)
    const [made] = (await target.admin('GET', 'webhooks')).body.webhooks
    const hours = async (): Promise<number> =>
      (await target.admin('GET', `webhooks/${made.id}/quarantine`)).body.quarantine.hours
    assert.equal(await hours(), 24)
    delete config['endpoints'][0].quarantine_hours
    const { change } = await planned(target, config)
    assert.deepEqual(change[0].changes, [{ member: 'quarantine_hours', from: 24, to: 0 }])
    await applied(target, config)
    assert.equal(await hours(), 0)
    assert.equal((await planned(target, config))['empty'], true)
    config['endpoints'][0].quarantine_hours = 73
    refused(await target.admin('POST', 'config/plan', { config }), /^config\.endpoints\[0\]\.quarantine_hours/)
  })

  test('an apply creates in an empty project everything that the export of another one has, with a separate URL and signing secret', async () => {
    const { project: source } = await aFullProject()
    const target = await aProject()
    const config = await exported(source)
    const plan = await planned(target, config)
    const done = await applied(target, config, { plan: plan['id'] })
    assert.deepEqual(done['create'], plan['create'])
    assert.deepEqual([done['change'], done['delete']], [[], []])
    const again = await exported(target)
    const [bare, pay] = again['endpoints']
    assert.deepEqual(
      [bare, { ...pay, handshake: { kind: 'hub_challenge', has_verify_token: true } }],
      config['endpoints'],
    )
    for (const list of ['rules', 'record_views']) assert.deepEqual(again[list], config[list], list)
    assert.equal(new Set([...(await urls(source)), ...(await urls(target))]).size, 4)
    const own = (await target.admin('GET', 'destinations')).body.destinations.find(
      (one: Config) => one['name'] === 'Own',
    )
    assert.ok(own.url.endsWith(`/${own.id}`), 'a sink receives at the URL of its destination')
    assert.equal(own.enabled, true)
  })

  test('a verifying endpoint is made without its secret, answers 401 until one is set, and is listed; an entry lacking verification is made without it', async () => {
    const project = await aProject()
    const verification = { scheme: 'hmac', header: 'X-Sign', algorithm: 'sha256', encoding: 'hex', prefix: '' }
    const config = { version: 1, endpoints: [endpoint('signed', { verification }), endpoint('open')] }
    assert.deepEqual((await planned(project, config))['needs_verification_secret'], ['signed'])
    assert.deepEqual((await applied(project, config))['needs_verification_secret'], ['signed'])
    const [open, signed] = (await project.admin('GET', 'webhooks')).body.webhooks.toSorted((a: Config, b: Config) =>
      a['slug'] < b['slug'] ? -1 : 1,
    )
    assert.deepEqual(open.verification, { scheme: 'none' })
    assert.deepEqual(signed.verification, { ...verification, has_secret: false, previous_secret_expires_at: null })
    const send = () =>
      post(signed.public_url, '{}', { headers: { 'x-sign': createHmac('sha256', 'late').update('{}').digest('hex') } })
    assert.deepEqual([(await send()).status, (await send()).body.reason], [401, 'bad_signature'])
    const still = await planned(project, config)
    assert.deepEqual([still['empty'], still['needs_verification_secret']], [true, ['signed']])
    await project.admin('PATCH', `webhooks/${signed.id}`, { verification: { scheme: 'hmac', secret: 'late' } })
    assert.equal((await send()).status, 201)
    assert.deepEqual((await planned(project, config))['needs_verification_secret'], [])
    // The same scheme retains its secret. Another scheme has none yet.
    const other = { version: 1, endpoints: [endpoint('signed', { verification: { ...verification, prefix: 'v1=' } })] }
    assert.deepEqual((await applied(project, other))['needs_verification_secret'], [])
    const switched = { version: 1, endpoints: [endpoint('signed', { verification: { scheme: 'code_host' } })] }
    assert.deepEqual((await applied(project, switched))['needs_verification_secret'], ['signed'])
    assert.equal((await send()).status, 401)
    // An entry without verification leaves the existing one unchanged.
    assert.equal((await planned(project, { version: 1, endpoints: [endpoint('signed')] }))['empty'], true)
  })

  test('a handshake of an endpoint is exported, planned and applied with its form; one that compares a token waits for it', async () => {
    const [source, target] = [await aProject(), await aProject()]
    const open = { when: { method: 'GET', query: 'challenge' }, answer: { body: '{{ query.challenge }}' } }
    const closed = { ...open, proof: { kind: 'token', query: 't' } }
    await aWebhook(source, { ...endpoint('open'), handshake: open })
    await aWebhook(source, { ...endpoint('closed'), handshake: { ...closed, verify_token: 'canary-tok' } })
    const config = await exported(source)
    const [first, second] = config['endpoints']
    const answer = { status: 200, content_type: 'text/plain', headers: {}, body: '{{ query.challenge }}' }
    assert.deepEqual(
      [first.handshake, second.handshake],
      [
        { kind: 'custom', when: open.when, proof: closed.proof, answer, has_verify_token: true },
        { kind: 'custom', when: open.when, proof: null, answer },
      ],
    )
    assert.equal((await planned(source, config))['empty'], true)
    const done = await applied(target, config)
    assert.deepEqual(done['needs_secrets'], [
      { ...items('endpoint', 'closed')[0], needs: ['handshake.verify_token'], waiting: ['handshake'] },
    ])
    const { webhooks } = (await target.admin('GET', 'webhooks')).body
    const of = (slug: string): Config => webhooks.find((one: Config) => one['slug'] === slug)
    assert.deepEqual([of('open')['handshake'].when, of('closed')['handshake']], [open.when, { kind: 'none' }])
    await target.admin('PATCH', `webhooks/${of('closed')['id']}`, { handshake: { ...closed, verify_token: 'tok' } })
    assert.equal((await planned(target, config))['empty'], true)
    config['endpoints'][1].handshake.answer.body = 'ok'
    const { change } = await planned(target, config)
    assert.deepEqual(
      change[0].changes.map(({ member }: { member: string }) => member),
      ['handshake'],
    )
    await applied(target, config)
    assert.equal((await planned(target, config))['empty'], true)
    config['endpoints'][1].handshake.answer.headers = { Location: 'x' }
    refused(
      await target.admin('POST', 'config/plan', { config }),
      /^config\.endpoints\[1\]\.handshake\.answer\.headers\.Location/,
    )
  })

  test('a new destination is created turned off without its secrets; the plan names them, and turns it on once someone has set them', async () => {
    const project = await aProject()
    const entry = {
      name: 'ERP',
      url: sink.url,
      headers: ['X-Tenant'],
      auth: { kind: 'bearer' },
      proxy: { url: 'http://127.0.0.1:9', username: 'ada' },
    }
    const config = { version: 1, destinations: [entry] }
    const needs = {
      ...items('destination', 'ERP')[0],
      needs: ['auth.token', 'headers.X-Tenant', 'proxy.password'],
      waiting: ['auth', 'enabled', 'headers', 'proxy'],
    }
    const done = await applied(project, config)
    assert.deepEqual(done['needs_secrets'], [needs])
    const [made] = (await project.admin('GET', 'destinations')).body.destinations
    assert.deepEqual([made.enabled, made.auth, made.headers, made.proxy], [false, { kind: 'none' }, {}, null])
    const waiting = await planned(project, config)
    assert.deepEqual(
      [waiting['empty'], waiting['change'], waiting['unchanged']],
      [false, [], items('destination', 'ERP')],
    )
    const set = await project.admin('PATCH', `destinations/${made.id}`, {
      headers: { 'X-Tenant': 'acme' },
      auth: { kind: 'bearer', token: 'secret' },
      proxy: { url: 'http://127.0.0.1:9', username: 'ada', password: 'secret' },
    })
    assert.equal(set.status, 200)
    const ready = await planned(project, config)
    assert.deepEqual(ready['needs_secrets'], [])
    assert.deepEqual(ready['change'], [
      { ...items('destination', 'ERP')[0], changes: [{ member: 'enabled', from: false, to: true }] },
    ])
    await applied(project, config)
    assert.equal((await planned(project, config))['empty'], true)
  })

  test('an existing destination retains its url, headers and auth until someone sets the secrets of a change; other members change immediately', async () => {
    const project = await aProject()
    const { body } = await project.admin('POST', 'destinations', {
      name: 'ERP',
      url: sink.url,
      auth: { kind: 'bearer', token: 'secret' },
      headers: { 'X-Tenant': 'acme', 'X-Old': 'gone' },
    })
    const at = { name: 'ERP', headers: ['X-Tenant'], auth: { kind: 'bearer' } }
    const elsewhere = { version: 1, destinations: [{ ...at, url: 'https://erp.example/hooks', timeout_ms: 2_000 }] }
    const plan = await planned(project, elsewhere)
    assert.deepEqual(plan['change'][0].changes, [{ member: 'timeout_ms', from: 15_000, to: 2_000 }])
    assert.deepEqual(plan['needs_secrets'], [
      { ...items('destination', 'ERP')[0], needs: ['auth.token', 'headers.X-Tenant'], waiting: ['headers', 'url'] },
    ])
    await applied(project, elsewhere)
    const moved = (await project.admin('GET', `destinations/${body.destination.id}`)).body.destination
    assert.deepEqual([moved.url, moved.enabled, moved.timeout_ms, moved.auth.kind], [sink.url, true, 2_000, 'bearer'])
    await applied(project, { version: 1, destinations: [{ ...at, url: `${sink.url}other` }] })
    const near = (await project.admin('GET', `destinations/${body.destination.id}`)).body.destination
    assert.deepEqual([near.url, Object.keys(near.headers), near.timeout_ms], [`${sink.url}other`, ['X-Tenant'], 15_000])
    assert.deepEqual(near.auth, { kind: 'bearer', has_secret: true })
  })

  test('an apply creates, changes and deletes in one transaction, each change with its audit row; one that fails leaves nothing', async () => {
    const { project } = await aFullProject()
    const config = await exported(project)
    config['endpoints'] = [{ ...config['endpoints'][1], name: 'Paid' }, endpoint('new')]
    config['rules'] = [{ name: 'planted', dataset: 'd' }]
    config['record_views'] = [{ dataset: 'new', name: 'v', columns: [{ key: 'a' }] }]
    config['destinations'] = [{ ...config['destinations'][0], timeout_ms: 2_000 }]
    const text = await textOf(project)
    const had = await everyRow()
    await statement(database, "alter table rules add constraint planted check (name <> 'planted') not valid")
    try {
      assert.equal((await project.admin('POST', 'config/apply', { config, delete_missing: true })).status, 500)
    } finally {
      await statement(database, 'alter table rules drop constraint planted')
    }
    assert.equal(await textOf(project), text)
    assert.deepEqual(await everyRow(), had)
    const done = await applied(project, config, { delete_missing: true })
    assert.deepEqual(done['delete'], [
      ...items('endpoint', 'bare'),
      ...items('rule', 'All', 'Large'),
      ...items('record_view', 'pay/By total'),
      ...items('destination', 'Own'),
    ])
    const { audit } = (await world.admin('GET', 'audit?limit=11')).body
    assert.deepEqual(
      audit.map((row: Config) => row['action']).toSorted(),
      [
        'apply_config',
        'create_record_view',
        'create_rule',
        'create_webhook',
        'delete_destination',
        'delete_record_view',
        'delete_rule',
        'delete_rule',
        'delete_webhook',
        'update_destination',
        'update_webhook',
      ].toSorted(),
    )
    const [summary] = audit.filter((row: Config) => row['action'] === 'apply_config')
    assert.deepEqual([summary.target, summary.details], [project.id, { created: 3, changed: 2, deleted: 5 }])
    assert.equal((await planned(project, config, { delete_missing: true }))['empty'], true)
  })

  test('an apply is refused when the project has changed since the plan, and with the id of another plan', async () => {
    const { project } = await aFullProject()
    const config = { version: 1, rules: [{ name: 'Other', dataset: 'd' }] }
    const { id } = await planned(project, config)
    await aRule(project, { name: 'Meanwhile', dataset: 'd' })
    const late = await project.admin('POST', 'config/apply', { config, plan: id })
    assert.deepEqual([late.status, late.body.reason], [409, 'project_changed'])
    assert.match(late.body.error, /Plan again/)
    const fresh = await planned(project, config)
    const other = { version: 1, rules: [{ name: 'Other', dataset: 'e' }] }
    refused(
      await project.admin('POST', 'config/apply', { config: other, plan: fresh['id'] }),
      /^plan belongs to another configuration/,
    )
    refused(
      await project.admin('POST', 'config/apply', { config, plan: fresh['id'], delete_missing: true }),
      /^plan belongs to another configuration/,
    )
    // An event changes nothing about a plan.
    await post((await project.admin('GET', 'webhooks')).body.webhooks[0].public_url, '{}')
    assert.deepEqual((await applied(project, config, { plan: fresh['id'] }))['create'], items('rule', 'Other'))
    const again = await project.admin('POST', 'config/apply', { config, plan: fresh['id'] })
    assert.equal(again.body.reason, 'project_changed')
  })

  test('of several simultaneous requests with the same plan, one is applied', async () => {
    const project = await aProject()
    const config = { version: 1, rules: Array.from({ length: 50 }, (_, at) => ({ name: `r${at}`, dataset: 'd' })) }
    const { id } = await planned(project, config)
    const answers = await Promise.all(
      Array.from({ length: 4 }, () => project.admin('POST', 'config/apply', { config, plan: id })),
    )
    assert.equal(answers.filter(({ status }) => status === 200).length, 1)
    assert.equal(answers.filter(({ body }) => body.reason === 'project_changed').length, 3)
    assert.equal((await exported(project))['rules'].length, 50)
  })

  test('the next event is routed by the applied configuration', async () => {
    const project = await aProject()
    const { key } = await anIngestKey(project)
    const send = async () => (await post(`${world.baseUrl}/v1/ingest/${key}`, '{"a":1}')).body.records
    assert.deepEqual(await send(), [])
    await applied(project, { version: 1, rules: [{ name: 'All', dataset: 'all' }] })
    assert.equal((await send())[0].dataset, 'all')
    await applied(project, { version: 1, rules: [] }, { delete_missing: true })
    assert.deepEqual(await send(), [])
  })

  test('numbers in mappings retain every digit', async () => {
    const [source, target] = [await aProject(), await aProject()]
    const text =
      '{"name":"n","dataset":"d","mappings":[{"target":"a","value":12345678901234567890},{"target":"b","value":1.50}]}'
    assert.equal((await source.admin('POST', 'rules', text)).status, 201)
    const file = await textOf(source)
    assert.match(file, /12345678901234567890[^]*1\.50/)
    assert.equal((await planned(source, file))['empty'], true)
    assert.equal((await target.admin('POST', 'config/apply', `{"config":${file}}`)).status, 200)
    assert.equal((await textOf(target)).replace(target.slug, source.slug), file)
  })

  test('a record view is found by dataset and name; two endpoints of one dataset need the endpoint too', async () => {
    const project = await aProject()
    const view = { dataset: 'orders', name: 'v', columns: [{ key: 'a' }] }
    const endpoints = [endpoint('one', { dataset: 'orders' }), endpoint('two', { dataset: 'orders' })]
    await applied(project, { version: 1, endpoints: endpoints.slice(0, 1), record_views: [view] })
    assert.equal((await exported(project))['record_views'][0].endpoint, 'one')
    const both = { version: 1, endpoints, record_views: [view] }
    refused(await project.admin('POST', 'config/plan', { config: both }), /several endpoints file into "orders"/)
    const views = [
      { ...view, endpoint: 'one', is_default: true },
      { ...view, endpoint: 'two' },
    ]
    await applied(project, { version: 1, endpoints, record_views: views })
    assert.equal((await planned(project, await exported(project), { delete_missing: true }))['empty'], true)
    const moved = {
      version: 1,
      endpoints: [endpoint('one', { dataset: 'sales' })],
      record_views: [{ ...view, dataset: 'sales', is_default: true }],
    }
    const plan = await planned(project, moved)
    assert.deepEqual([plan['create'], plan['change'].map((one: Config) => one['kind'])], [[], ['endpoint']])
  })
})

/** Every row of every table, as text. */
async function everyRow(): Promise<Readonly<Record<string, readonly string[]>>> {
  const tables = await database.many<{ name: string }>({
    strings: [
      `select c.relname as name from pg_class c
        where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition order by 1`,
    ],
    values: [],
  })
  const all: Record<string, readonly string[]> = {}
  for (const { name } of tables) {
    const rows = await database.many<{ row: string }>({ strings: [`select t::text as row from ${name} t`], values: [] })
    all[name] = rows.map(({ row }) => row).toSorted()
  }
  return all
}
