import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { decodeId, LIMITS } from '@postroad/contract'
import { sql, type Database } from '../../src/platform/db.ts'
import { finishDeletions } from '../../src/resources/workspace/deletions/index.ts'
import { aDestination, aName, anIngestKey, aRule, aWebhook, behind, post, statement } from '../stage/fixtures.ts'
import { aWorld, eventually, type Answer, type World } from '../stage/harness.ts'

/** The deletions of a project, and their restores. The tests run the work of the loop themselves. Two nodes share one database. */
let world: World
let second: World
let database: Database

before(async () => {
  world = await aWorld({ env: { ROLES: 'web' } })
  second = await aWorld({ beside: world, env: { ROLES: 'web' } })
  database = behind(world)
})
after(async () => {
  await database.close()
  await second.stop()
  await world.stop()
})

const DAY_MS = LIMITS.deletionRetentionMs
type Body = Answer['body']

async function get(path: string): Promise<Body> {
  const { status, body } = await world.admin('GET', path)
  assert.equal(status, 200, JSON.stringify(body))
  return body
}

/** Deletes a resource, and returns the id of its deletion. */
async function removed(path: string): Promise<string> {
  const { status, body } = await world.admin('DELETE', path)
  assert.equal(status, 200, JSON.stringify(body))
  assert.equal(body.ok, true)
  return body.deletion.id
}

const restore = (id: string): Promise<Answer> => world.admin('POST', `deletions/${id}/restore`)

async function restored(id: string): Promise<Body> {
  const { status, body } = await restore(id)
  assert.equal(status, 200, JSON.stringify(body))
  return body.restored
}

function assertRefused({ status, body }: Answer, wanted: { status: number; reason: string; error: RegExp }): void {
  assert.deepEqual([status, body.reason], [wanted.status, wanted.reason], JSON.stringify(body))
  assert.match(body.error, wanted.error)
}

const finish = (): Promise<number> => finishDeletions(world.app.deps)

const WORKFLOW = { entry_dataset: 'orders', steps: [{ id: 'wait', type: 'delay', seconds: 60 }] }

async function aWorkflow(members: object = {}): Promise<Body> {
  const { status, body } = await world.admin('POST', 'workflows', { name: aName('workflow'), ...WORKFLOW, ...members })
  assert.equal(status, 201, JSON.stringify(body))
  return body.workflow
}

/** A row of every column, as PostgreSQL writes it, with its sealed columns opened. */
async function rowsOf(table: string, column: string, id: string): Promise<readonly string[]> {
  const rows = await database.many<{ row: string }>({
    strings: [`select to_json(t)::text as row from ${table} t where ${column} = '${id}' order by to_json(t)::text`],
    values: [],
  })
  return rows.map(({ row }) => row.replaceAll(/"\\\\x[0-9a-f]+"/g, '"sealed"'))
}

describe('a deleted endpoint', () => {
  test('a restored endpoint is the same: every column, its URLs, its secret, its versions and its record views', async () => {
    const webhook = await aWebhook(world, {
      verification: { scheme: 'basic_auth', secret: 'ann:whispered' },
      criteria: [{ path: 'n', op: 'gte', value: 1 }],
      mappings: [{ target: 'n', path: 'n' }],
    })
    await world.admin('PATCH', `webhooks/${webhook.id}`, { name: aName('renamed') })
    const { body: rotation } = await world.admin('POST', `webhooks/${webhook.id}/rotate`, { overlap_hours: 5 })
    await world.admin('POST', `webhooks/${webhook.id}/views`, { name: 'Totals', columns: [{ key: 'n' }] })
    const id = decodeId('webhook', webhook.id) ?? ''
    const tables = [
      ['webhooks', 'id'],
      ['webhook_versions', 'webhook_id'],
      ['record_views', 'webhook_id'],
    ] as const
    const all = () => Promise.all(tables.map(([table, column]) => rowsOf(table, column, id)))
    const had = { rows: await all(), webhook: await get(`webhooks/${webhook.id}`) }
    const deletion = await removed(`webhooks/${webhook.id}`)
    assert.deepEqual(await all(), [[], [], []])
    const { name } = had.webhook.webhook
    assert.deepEqual(await restored(deletion), { kind: 'webhook', id: webhook.id, name })
    assert.deepEqual(await all(), had.rows)
    assert.deepEqual(await get(`webhooks/${webhook.id}`), had.webhook)
    const headers = { authorization: `Basic ${btoa('ann:whispered')}` }
    for (const url of [rotation.public_url, rotation.previous_public_url])
      assert.equal((await post(url, '{"n":1}', { headers })).status, 201)
    assert.equal((await post(rotation.public_url, '{"n":1}')).status, 401)
  })

  test('the URL of a deleted endpoint answers 404 on every node until the endpoint is restored', async () => {
    const webhook = await aWebhook(world)
    const statuses = () =>
      Promise.all(
        [world, second].map(async ({ baseUrl }) => {
          const url = webhook.public_url.replace(world.baseUrl, baseUrl)
          return (await post(url, '{}')).status
        }),
      )
    const become = (wanted: string): Promise<true> =>
      eventually(async () => (JSON.stringify(await statuses()) === wanted ? true : undefined))
    await become('[201,201]')
    const deletion = await removed(`webhooks/${webhook.id}`)
    assert.equal((await post(webhook.public_url, '{}')).status, 404)
    await become('[404,404]')
    await restored(deletion)
    assert.equal((await post(webhook.public_url, '{}')).status, 201)
    await become('[201,201]')
  })

  test('a previous URL whose overlap has passed meanwhile is not restored', async () => {
    const webhook = await aWebhook(world)
    const { body: rotation } = await world.admin('POST', `webhooks/${webhook.id}/rotate`, { overlap_hours: 1 })
    const deletion = await removed(`webhooks/${webhook.id}`)
    world.clock.advance(3_600_001)
    await restored(deletion)
    assert.equal((await post(rotation.public_url, '{}')).status, 201)
    assert.equal((await post(rotation.previous_public_url, '{}')).status, 404)
  })

  test('no part of an endpoint is restored while another endpoint has its slug', async () => {
    const webhook = await aWebhook(world, { slug: 'taken' })
    const deletion = await removed(`webhooks/${webhook.id}`)
    const other = await aWebhook(world, { slug: 'taken' })
    assertRefused(await restore(deletion), {
      status: 409,
      reason: 'slug_taken',
      error: /Another endpoint now has this slug/,
    })
    assert.deepEqual(await rowsOf('webhook_versions', 'webhook_id', decodeId('webhook', webhook.id) ?? ''), [])
    await world.admin('PATCH', `webhooks/${other.id}`, { slug: 'moved' })
    assert.equal((await restored(deletion)).id, webhook.id)
  })

  test('the copy of an endpoint is sealed as a whole', async () => {
    const webhook = await aWebhook(world, { verification: { scheme: 'hmac', secret: 'whispered' } })
    const deletion = await removed(`webhooks/${webhook.id}`)
    const [row] = await database.many<{ snapshot: Buffer }>(
      sql`select snapshot from deletions where id = ${decodeId('deletion', deletion) ?? ''}`,
    )
    const text = row?.snapshot.toString('latin1') ?? ''
    for (const secret of ['whispered', webhook.webhook_slug, webhook.name])
      assert.ok(text !== '' && !text.includes(secret))
  })
})

describe('a deleted rule', () => {
  test('a restored rule routes again with the same id, and a taken name refuses the restore', async () => {
    const rule = await aRule(world, { conditions: [{ path: 'kind', equals: 'restored' }], dataset: 'restored' })
    const { key } = await anIngestKey(world)
    const routed = async (): Promise<string[]> =>
      (await post(`${world.baseUrl}/v1/ingest/${key}`, '{"kind":"restored"}')).body.routed.map(
        ({ rule_id }: { rule_id: string }) => rule_id,
      )
    assert.deepEqual(await routed(), [rule.id])
    const deletion = await removed(`rules/${rule.id}`)
    assert.deepEqual(await routed(), [])
    const other = await aRule(world, { name: rule.name, conditions: [{ path: 'kind', equals: 'never' }] })
    assertRefused(await restore(deletion), {
      status: 409,
      reason: 'name_taken',
      error: /Another rule now has this name/,
    })
    await removed(`rules/${other.id}`)
    await restored(deletion)
    assert.deepEqual(await routed(), [rule.id])
    assert.deepEqual((await get(`rules/${rule.id}`)).rule, rule)
  })
})

async function statesAt(destination: string): Promise<readonly string[]> {
  const rows = await database.many<{ state: string }>(
    sql`select state from deliveries where destination_id = ${decodeId('destination', destination) ?? ''} order by id`,
  )
  return rows.map(({ state }) => state)
}

const aQuietOne = (members: object = {}) =>
  aDestination(world, { url: 'https://example.com/hook', datasets: [aName('d').replace(' ', '')], ...members })

const send = async (destination: Body, count: number): Promise<void> => {
  for (let n = 0; n < count; n += 1)
    assert.equal((await post(`${world.endpoint}/${destination.datasets[0]}`, `{"n":${n}}`)).status, 201)
}

/** Deletes a destination. The sweep of the delivery loop cancels the deliveries that the deletion itself leaves. */
async function removedWithAll(destination: Body): Promise<string> {
  const deletion = await removed(`destinations/${destination.id}`)
  await database.run(sql`
    update deliveries set state = 'cancelled', next_attempt_at = null, updated_at = ${new Date(world.clock.now())}
     where destination_id = ${decodeId('destination', destination.id) ?? ''} and state = 'pending'
  `)
  return deletion
}

const waitingAt = async (destination: Body): Promise<number> =>
  (await statesAt(destination.id)).filter((state) => state === 'pending').length

/** A destination with this many deliveries, all canceled by its deletion. */
async function aCrowdedOne(count: number): Promise<{ readonly destination: Body; readonly deletion: string }> {
  const { destination } = await aQuietOne()
  await send(destination, 1)
  await database.run(sql`
    insert into deliveries (workspace_id, project_id, id, record_id, destination_id, state, next_attempt_at, created_at, updated_at)
    select workspace_id, project_id, gen_random_uuid(), record_id, destination_id, 'pending', now(), now(), ${new Date(world.clock.now())}
      from deliveries, generate_series(2, ${count}::int)
     where destination_id = ${decodeId('destination', destination.id) ?? ''}
  `)
  return { destination, deletion: await removedWithAll(destination) }
}

describe('a deleted destination', () => {
  test('a restored destination has the same id, signing secret, headers and credentials', async () => {
    const { destination, secret } = await aQuietOne({
      headers: { 'X-Key': 'theirs' },
      auth: { kind: 'bearer', token: 'bear-7f3a' },
      proxy: { url: 'https://proxy.example:8443', username: 'ann', password: 'pass-7f3a' },
      ordering: { path: 'n' },
    })
    const id = decodeId('destination', destination.id) ?? ''
    const opened = () =>
      world.app.deps.database.forWorkspace(decodeId('workspace', world.installed.workspace.id) ?? '').one<{
        secret: Buffer
        headers: Buffer
        auth: Buffer
        proxy: Buffer
      }>(sql`select secret, headers, auth, proxy from destinations where id = ${id}`)
    const plain = async () =>
      Object.entries(await opened()).map(([column, sealed]) =>
        world.app.deps.cipher.open(sealed, `destinations.${column}/${id}`).reveal(),
      )
    const had = { rows: await rowsOf('destinations', 'id', id), plain: await plain() }
    await restored(await removed(`destinations/${destination.id}`))
    assert.deepEqual(await rowsOf('destinations', 'id', id), had.rows)
    assert.deepEqual(await plain(), had.plain)
    assert.ok(had.plain.includes(secret))
    assert.deepEqual((await get(`destinations/${destination.id}`)).destination, destination)
  })

  test('a restored destination sends the deliveries that its deletion canceled, and not those that were canceled before', async () => {
    const { destination } = await aQuietOne()
    await send(destination, 3)
    const [first] = (await get(`deliveries?destination_id=${destination.id}`)).deliveries
    await world.admin('POST', `deliveries/${first.id}/cancel`)
    assert.deepEqual(await statesAt(destination.id), ['pending', 'pending', 'cancelled'])
    world.clock.advance(1_000)
    const deletion = await removed(`destinations/${destination.id}`)
    assert.deepEqual(await statesAt(destination.id), ['cancelled', 'cancelled', 'cancelled'])
    world.clock.advance(1_000)
    await restored(deletion)
    assert.deepEqual(await statesAt(destination.id), ['pending', 'pending', 'cancelled'])
    await send(destination, 1)
    assert.deepEqual(await statesAt(destination.id), ['pending', 'pending', 'cancelled', 'pending'])
  })

  test('the deliveries of a destination that is off are paused again', async () => {
    const { destination } = await aQuietOne()
    await send(destination, 2)
    await world.admin('PATCH', `destinations/${destination.id}`, { enabled: false })
    await restored(await removed(`destinations/${destination.id}`))
    assert.deepEqual(await statesAt(destination.id), ['paused', 'paused'])
    await world.admin('PATCH', `destinations/${destination.id}`, { enabled: true })
    assert.deepEqual(await statesAt(destination.id), ['pending', 'pending'])
  })

  test('the loop resumes the deliveries that do not fit into the commit of the restore', async () => {
    const { destination, deletion } = await aCrowdedOne(4_501)
    await restored(deletion)
    assert.equal(await waitingAt(destination), 2_000)
    await finish()
    assert.equal(await waitingAt(destination), 4_501)
    assertRefused(await restore(deletion), { status: 409, reason: 'invalid_state', error: /already restored/ })
  })

  test('a destination that is deleted again before the loop has resumed all gets all of them back by its next restore', async () => {
    const { destination, deletion } = await aCrowdedOne(4_501)
    await restored(deletion)
    world.clock.advance(1_000)
    const again = await removedWithAll(destination)
    await finish()
    await restored(again)
    await finish()
    assert.equal(await waitingAt(destination), 4_501)
  })

  test('resumed deliveries of a plan with a delivery allowance wait for it, so that nobody sends more by deleting and restoring', async () => {
    const { destination } = await aQuietOne()
    await send(destination, 2)
    const setPlan = (plan: string) => database.run(sql`update workspaces set plan = ${plan}`)
    await setPlan('free')
    await restored(await removed(`destinations/${destination.id}`))
    const rows = await database.many<{ reason: string }>(
      sql`select pause_reason as reason from deliveries where destination_id = ${decodeId('destination', destination.id) ?? ''}`,
    )
    await setPlan('self_hosted')
    assert.deepEqual(
      rows.map(({ reason }) => reason),
      ['allowance_used', 'allowance_used'],
    )
  })
})

describe('a deleted workflow', () => {
  test('a restored workflow starts again in its version, and its canceled instances stay canceled', async () => {
    const workflow = await aWorkflow({ entry_dataset: 'restarted' })
    await world.admin('PUT', `workflows/${workflow.id}`, {
      name: workflow.name,
      ...WORKFLOW,
      entry_dataset: 'restarted',
    })
    const had = (await get(`workflows/${workflow.id}`)).workflow
    assert.equal((await post(`${world.endpoint}/restarted`, '{}')).status, 201)
    const states = async (): Promise<string[]> =>
      (await get(`workflow-instances?workflow_id=${workflow.id}`)).instances.map(({ state }: Body) => state)
    assert.deepEqual(await states(), ['pending'])
    const deletion = await removed(`workflows/${workflow.id}`)
    assert.deepEqual(await states(), ['cancelled'])
    assert.equal((await post(`${world.endpoint}/restarted`, '{}')).status, 201)
    await restored(deletion)
    assert.deepEqual((await get(`workflows/${workflow.id}`)).workflow, had)
    assert.deepEqual((await get(`workflows/${workflow.id}/versions`)).versions.length, 2)
    assert.deepEqual(await states(), ['cancelled'])
    assert.equal((await post(`${world.endpoint}/restarted`, '{}')).status, 201)
    assert.deepEqual(await states(), ['pending', 'cancelled'])
  })

  test('a workflow is not restored while its slug is taken, or the project is full', async () => {
    const workflow = await aWorkflow({ slug: 'taken' })
    const deletion = await removed(`workflows/${workflow.id}`)
    const other = await aWorkflow({ slug: 'taken' })
    assertRefused(await restore(deletion), {
      status: 409,
      reason: 'slug_taken',
      error: /Another workflow now has this slug/,
    })
    await removed(`workflows/${other.id}`)
    await database.run(sql`
      insert into workflows (workspace_id, project_id, id, name, slug, active, version, entry_dataset, entry_conditions, created_at, updated_at)
      select w.workspace_id, w.id, gen_random_uuid(), 'full', 'full-' || n, false, 1, 'full', '[]', now(), now()
        from projects w, generate_series(1, ${LIMITS.workflowsPerProjectMax}::int) n
       where w.is_default
    `)
    assertRefused(await restore(deletion), { status: 409, reason: 'workflow_limit_reached', error: /maximum number/ })
    await database.run(sql`delete from workflows where name = 'full'`)
    assert.equal((await restored(deletion)).id, workflow.id)
  })
})

/** Texts whose escapes PostgreSQL stores, but refuses to read as JSON; the last one only looks like an escape. */
const ODD_TEXTS = ['\0', 'half \ud800', String.raw`C:\u0000`]

describe('the deletions of a project', () => {
  test('settings with any text are restored as they were', async () => {
    const conditions = [{ path: 'n', op: 'in', value: ODD_TEXTS }]
    const mappings = [{ target: 'n', value: ODD_TEXTS }]
    const webhook = await aWebhook(world, { criteria: conditions, mappings })
    const rule = await aRule(world, { conditions, mappings })
    const { destination } = await aQuietOne({ conditions, payload_template: { of: ODD_TEXTS } })
    const workflow = await aWorkflow({ entry_conditions: conditions })
    const all = [
      `webhooks/${webhook.id}`,
      `rules/${rule.id}`,
      `destinations/${destination.id}`,
      `workflows/${workflow.id}`,
    ]
    for (const path of all) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      const had = await get(path)
      // oxlint-disable-next-line no-await-in-loop -- as above
      await restored(await removed(path))
      // oxlint-disable-next-line no-await-in-loop -- as above
      assert.deepEqual(await get(path), had, path)
    }
  })

  test('the list shows the newest deletion first, with the member and the agent, until its resource is restored', async () => {
    const [rule, webhook] = [await aRule(world), await aWebhook(world)]
    const ids = [await removed(`rules/${rule.id}`), await removed(`webhooks/${webhook.id}`)]
    const { deletions: found } = await get('deletions?limit=2')
    assert.deepEqual(
      found.map((one: Body) => [one.id, one.kind, one.resource_id, one.name]),
      [
        [ids[1], 'webhook', webhook.id, webhook.name],
        [ids[0], 'rule', rule.id, rule.name],
      ],
    )
    const me = await get('me')
    assert.deepEqual([found[0].actor, found[0].agent], [me.user.id, `api_key:${me.api_key.id}`])
    assert.equal(Date.parse(found[0].restorable_until) - Date.parse(found[0].deleted_at), DAY_MS)
    assert.deepEqual((await get('deletions?kind=rule&limit=1')).deletions[0].id, ids[0])
    await restored(ids[1] ?? '')
    assert.equal((await get('deletions?limit=1')).deletions[0].id, ids[0])
  })

  test('a restore has an audit row, which shows the restored resource', async () => {
    const rule = await aRule(world, { conditions: [{ path: 'kind', equals: 'audited' }] })
    const deletion = await removed(`rules/${rule.id}`)
    await restored(deletion)
    const { audit } = await get(`audit?target=${rule.id}&limit=2`)
    assert.deepEqual(
      audit.map((row: Body) => [row.action, row.details.deletion_id]),
      [
        ['restore_rule', deletion],
        ['delete_rule', deletion],
      ],
    )
    assert.deepEqual([audit[0].details.before, audit[1].details.after], [null, null])
    assert.deepEqual(audit[0].details.after, audit[1].details.before)
    assert.equal(audit[0].details.after.conditions[0].equals, 'audited')
  })

  test('the deletions of a configuration can be undone one by one', async () => {
    const rule = await aRule(world)
    const { body: exported } = await world.admin('GET', 'config/export')
    const config = { ...exported, rules: exported.rules.filter(({ name }: Body) => name !== rule.name) }
    const applied = await world.admin('POST', 'config/apply', { config, delete_missing: true })
    assert.equal(applied.status, 200, JSON.stringify(applied.body))
    const [newest] = (await get('deletions?kind=rule&limit=1')).deletions
    assert.equal(newest.resource_id, rule.id)
    assert.equal((await restored(newest.id)).id, rule.id)
  })

  test('one of two restores at the same time is refused', async () => {
    const rule = await aRule(world)
    const deletion = await removed(`rules/${rule.id}`)
    const answers = await Promise.all([restore(deletion), restore(deletion)])
    assert.deepEqual(
      answers.map(({ status }) => status).toSorted((a, b) => a - b),
      [200, 409],
    )
  })

  test('a deletion can be undone for 24 hours, and then its copy is erased', async () => {
    const [early, late] = [await aRule(world), await aRule(world)]
    const ids = [await removed(`rules/${early.id}`), await removed(`rules/${late.id}`)]
    world.clock.advance(DAY_MS - 1)
    assert.equal((await restored(ids[0] ?? '')).id, early.id)
    world.clock.advance(1)
    const refusal = { status: 409, reason: 'invalid_state', error: /could be restored until .* Create the rule again/ }
    assertRefused(await restore(ids[1] ?? ''), refusal)
    assert.deepEqual((await get('deletions')).deletions, [])
    await finish()
    const { copies } = await database.one<{ copies: number }>(
      sql`select count(*)::int as copies from deletions where snapshot is not null`,
    )
    assert.equal(copies, 0)
    assertRefused(await restore(ids[1] ?? ''), refusal)
    world.clock.advance(LIMITS.deletionShownMs)
    await finish()
    assert.equal((await restore(ids[1] ?? '')).status, 404)
  })

  test('the oldest deletions beyond the limit are erased', async () => {
    const rule = await aRule(world)
    const deletion = await removed(`rules/${rule.id}`)
    await database.run(sql`
      insert into deletions (workspace_id, project_id, id, kind, resource_id, name, actor, deleted_at, expires_at, snapshot)
      select workspace_id, project_id, ('ffffffff-ffff-7fff-8fff-' || lpad(to_hex(n), 12, '0'))::uuid, kind, resource_id, name, actor, deleted_at, expires_at, snapshot
        from deletions, generate_series(1, ${LIMITS.deletionsPerProjectMax}::int) n
       where id = ${decodeId('deletion', deletion) ?? ''}
    `)
    await removed(`rules/${(await aRule(world)).id}`)
    assert.equal((await restore(deletion)).status, 404)
    await database.run(sql`delete from deletions`)
  })

  test('a column that a migration adds meanwhile gets its default in a restored row', async () => {
    const rule = await aRule(world)
    const deletion = await removed(`rules/${rule.id}`)
    await statement(database, "alter table rules add column added_later text not null default 'fresh'")
    await restored(deletion)
    const row = await database.one<{ added_later: string }>(
      sql`select added_later from rules where id = ${decodeId('rule', rule.id) ?? ''}`,
    )
    await statement(database, 'alter table rules drop column added_later')
    assert.equal(row.added_later, 'fresh')
  })
})
