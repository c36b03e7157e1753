import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { LIMITS } from '@postroad/contract'
import { anIngestKey, aRule, aWebhook, post, statement } from '../stage/fixtures.ts'
import {
  onConfigStage,
  world,
  database,
  sink,
  textOf,
  exported,
  planned,
  refused,
  endpoint,
  items,
  aFullProject,
  aProject,
} from '../stage/config-stage.ts'

onConfigStage()

describe('POST config/plan', () => {
  test('the plan of an unchanged project is empty, with secrets and without', async () => {
    const { project } = await aFullProject()
    const plan = await planned(project, await textOf(project))
    assert.equal(plan['empty'], true)
    for (const member of ['create', 'change', 'delete', 'not_in_config', 'needs_verification_secret', 'needs_secrets'])
      assert.deepEqual(plan[member], [], member)
    assert.deepEqual(plan['unchanged'], [
      ...items('endpoint', 'bare', 'pay'),
      ...items('rule', 'All', 'Large'),
      ...items('record_view', 'pay/By total'),
      ...items('transform', 'Same'),
      ...items('destination', 'ERP', 'Own'),
    ])
    assert.deepEqual(plan['not_exported'], [{ kind: 'ingest_key', name: 'Checkout' }])
    assert.equal(plan['routing'], null)
    const strict = await planned(project, await exported(project), { delete_missing: true })
    assert.equal(strict['empty'], true)
  })

  test('a plan lists creations, and changes with a diff; it deletes only on request; an omitted list is not managed', async () => {
    const { project } = await aFullProject()
    const config = await exported(project)
    config['endpoints'] = [config['endpoints'][1], endpoint('new')]
    config['endpoints'][0].criteria = []
    config['rules'] = [{ ...config['rules'][1], dataset: 'larger' }]
    delete config['destinations']
    const plan = await planned(project, config)
    assert.deepEqual(
      [plan['create'], plan['change'], plan['delete'], plan['not_in_config'], plan['empty']],
      [
        items('endpoint', 'new'),
        [
          {
            ...items('endpoint', 'pay')[0],
            changes: [{ member: 'criteria', from: [{ path: 'kind', equals: 'paid' }], to: [] }],
          },
          { ...items('rule', 'Large')[0], changes: [{ member: 'dataset', from: 'large', to: 'larger' }] },
        ],
        [],
        [...items('endpoint', 'bare'), ...items('rule', 'All')],
        false,
      ],
    )
    assert.deepEqual(plan['unchanged'], [...items('record_view', 'pay/By total'), ...items('transform', 'Same')])
    const strict = await planned(project, config, { delete_missing: true })
    assert.deepEqual(strict['delete'], [...items('endpoint', 'bare'), ...items('rule', 'All')])
    assert.deepEqual(strict['not_in_config'], [])
  })

  test('a plan never writes, whatever it finds, and any role may ask for one, in a suspended workspace too', async () => {
    const { project } = await aFullProject()
    const { public_url } = await aWebhook(project, endpoint('events'))
    await post(public_url, '{"total":50}')
    const config = await exported(project)
    config['endpoints'] = [endpoint('events', { dataset: 'others' }), endpoint('new')]
    config['record_views'] = []
    await statement(database, "update api_keys set role = 'viewer'; update workspaces set suspended_at = now()")
    try {
      const had = await everyRow()
      const plan = await planned(project, config, { delete_missing: true })
      assert.deepEqual([plan['create'].length, plan['change'].length, plan['delete'].length], [1, 1, 3])
      assert.equal(plan['routing'].different, 1)
      assert.deepEqual(await everyRow(), had)
    } finally {
      await statement(database, "update api_keys set role = 'admin'; update workspaces set suspended_at = null")
    }
  })

  test('a plan lists how the newest stored payloads would be routed differently', async () => {
    const project = await aProject()
    const { key } = await anIngestKey(project)
    await aRule(project, { name: 'Orders', dataset: 'orders', conditions: [{ path: 'total', op: 'gt', value: 40 }] })
    const { public_url } = await aWebhook(project, endpoint('shop'))
    await project.admin('POST', 'destinations', { name: 'ERP', url: sink.url, datasets: ['orders'] })
    const url = `${world.baseUrl}/v1/ingest/${key}`
    const small = (await post(url, '{"total":30}')).body.id
    await post(url, '{"total":90}')
    await post(`${url}/orders`, '{"total":1}')
    await post(`${public_url}/named`, '{"total":1}')
    const shop = (await post(public_url, '{"total":1}')).body.id
    const config = await exported(project)
    config['rules'][0].conditions[0].value = 20
    config['endpoints'][0].dataset = 'sales'
    const { routing } = await planned(project, config)
    const none = { added: [], removed: [], changed: [] }
    assert.deepEqual(routing, {
      compared: 5,
      different: 2,
      unreadable: 0,
      payloads: [
        {
          submission_id: shop,
          received_at: '2026-01-15T12:00:00.000Z',
          refused_before: null,
          refused_after: null,
          records: {
            added: [{ dataset: 'sales', by: 'shop' }],
            removed: [{ dataset: 'shop', by: 'shop' }],
            changed: [],
          },
          deliveries: none,
          starts: none,
          more: 0,
        },
        {
          submission_id: small,
          received_at: '2026-01-15T12:00:00.000Z',
          refused_before: null,
          refused_after: null,
          records: { ...none, added: [{ dataset: 'orders', by: 'Orders' }] },
          deliveries: { ...none, added: [{ destination: 'ERP', dataset: 'orders', paused: false }] },
          starts: none,
          more: 0,
        },
      ],
    })
    const newest = await planned(project, config, { recent: 1 })
    assert.deepEqual([newest['routing'].compared, newest['routing'].different], [1, 1])
    assert.equal((await planned(project, config, { recent: 0 }))['routing'], null)
  })

  test('a plan stops comparing when its work is used up, and reports how many payloads it left out', async () => {
    const project = await aProject()
    const { key } = await anIngestKey(project)
    const body = JSON.stringify({ text: 'a'.repeat(500_000) })
    for (let count = 0; count < 4; count += 1) await post(`${world.baseUrl}/v1/ingest/${key}`, body)
    const conditions = Array.from({ length: 50 }, (_, at) => ({ path: 'text', op: 'not_equals', value: `x${at}` }))
    const searches = conditions.map(({ path }, at) => ({ path, op: 'contains', value: 'a'.repeat(at + 1) }))
    const rules = [conditions, searches].map((list, at) => ({ name: `r${at}`, dataset: 'd', conditions: list }))
    const { routing } = await planned(project, { version: 1, rules })
    assert.equal(routing.budget_used_up, true)
    assert.ok(routing.not_looked_at >= 1)
    assert.equal(routing.compared + routing.not_looked_at, 4)
  })

  test('a plan refuses anything but a configuration, with the place of the fault', async () => {
    const project = await aProject()
    const rule = { name: 'r', dataset: 'd' }
    const destination = { name: 'd', url: sink.url }
    for (const [config, what] of [
      [[], /^config must be of type object, not array\.$/],
      [{}, /^config\.version: The version of a configuration is 1\.$/],
      [{ version: 2 }, /^config\.version: The version of a configuration is 1\.$/],
      [{ version: 1, sources: [] }, /^config: unknown field "sources"; remove it\.$/],
      [{ version: 1, rules: {} }, /^config\.rules must be of type array, not object\.$/],
      [{ version: 1, rules: [rule, { ...rule, name: 'x', id: 1 }] }, /^config\.rules\[1\]: unknown field "id"/],
      [{ version: 1, rules: [rule, rule] }, /^config\.rules\[1\] has the same identity as config\.rules\[0\], "r"\./],
      [
        { version: 1, rules: [{ ...rule, conditions: [{ path: 'a', op: 'regex', value: '(a+)+' }] }] },
        /^config\.rules\[0\]\.conditions\[0\]\.value:? /,
      ],
      [
        { version: 1, endpoints: [endpoint('a', { verification: { scheme: 'code_host', secret: 'x' } })] },
        /^config\.endpoints\[0\]\.verification: "secret" does not apply to the scheme code_host \(GitHub\) here; remove it\.$/,
      ],
      [
        { version: 1, destinations: [{ ...destination, auth: { kind: 'bearer', token: 'x' } }] },
        /^config\.destinations\[0\]\.auth: unknown field "token"/,
      ],
      [{ version: 1, destinations: [{ name: 'd' }] }, /^config\.destinations\[0\] needs a url, or "sink": true\.$/],
      [
        { version: 1, record_views: [{ dataset: 'a', name: 'v', columns: [{ key: 'a' }] }] },
        /^config\.record_views\[0\]\.dataset: no endpoint files into "a"\./,
      ],
    ] as const)
      refused(await project.admin('POST', 'config/plan', { config }), what)
    const nowhere = await project.admin('POST', 'config/plan', {
      config: { version: 1, destinations: [{ ...destination, url: 'http://10.0.0.1/' }] },
    })
    assert.deepEqual([nowhere.status, nowhere.body.reason], [400, 'invalid_url'])
    assert.match(nowhere.body.error, /^destination "d": /)
    const many = Array.from({ length: LIMITS.configChangesMax + 1 }, (_, at) => ({ name: `r${at}`, dataset: 'd' }))
    refused(
      await project.admin('POST', 'config/plan', { config: { version: 1, rules: many } }),
      /^config makes 1001 changes/,
    )
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
