import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodeId, LIMITS } from '@postroad/contract'
import { sql, type Database } from '../../src/platform/db.ts'
import { INVARIANTS } from '../../src/resources/operate/installation/invariants.ts'
import { eraseEnded } from '../../src/resources/workspace/erasure/index.ts'
import { rollUp } from '../../src/resources/workspace/rollups/roll-up.ts'
import { post, signedIn } from '../stage/fixtures.ts'
import type { Sink, World } from '../stage/harness.ts'
import { aKeyOf, aMember, ask, aWorkspace, type Headers, type Member } from '../stage/people.ts'
import { onWorldStage } from '../stage/world-stage.ts'

/**
 * A deleted project and a closed workspace are erased completely: the data of a project an hour later, a closed
 * workspace after its grace period.
 */
let world: World
let database: Database
let sink: Sink

onWorldStage(
  async (made) => {
    ;({ world, database, sink } = made)
  },
  { loops: [] },
)

type Home = Member & { readonly slug: string; readonly headers: Headers; readonly defaultProjectId: string }

let made = 0

async function aHome(): Promise<Home> {
  made += 1
  const owner = await aWorkspace(world, database, `doomed-${made}`)
  return { ...owner, slug: `doomed-${made}`, headers: await signedIn(world, owner) }
}

/** One resource of each kind in a project, with a delivery. Returns the endpoint. */
async function fill(home: Home, project: string): Promise<{ readonly url: string }> {
  const make = async (path: string, body: object) => {
    const answer = await ask(world, `POST projects/${project}/${path}`, {
      headers: home.headers,
      body: { name: path, ...body },
    })
    assert.equal(answer.status, 201, JSON.stringify(answer.body))
    return answer.body
  }
  const { webhook } = await make('webhooks', { dataset: 'd' })
  await make(`webhooks/${webhook.id}/views`, { name: 'v', columns: [{ key: 'a' }] })
  await make('rules', { dataset: 'd' })
  await make('destinations', { url: sink.url })
  const { key } = await make('ingest-keys', {})
  for (const url of [webhook.public_url, `${world.baseUrl}/v1/ingest/${key}/d`])
    assert.equal((await post(url, '{"a":1}')).status, 201)
  await world.idle()
  const { deliveries } = (
    await ask(world, `GET projects/${project}/deliveries?state=delivered`, { headers: home.headers })
  ).body
  assert.equal(deliveries.length, 2)
  await rollUp(world.app.deps)
  return { url: webhook.public_url }
}

/** Tables with this column that have rows with this value. */
async function tablesWith(column: 'workspace_id' | 'project_id', id: string): Promise<readonly string[]> {
  const tables = await database.many<{ name: string }>(sql`
    select c.relname as name
      from pg_class c
      join pg_namespace n on n.oid = c.relnamespace and n.nspname = 'public'
      join pg_attribute a on a.attrelid = c.oid and a.attname = ${column}
     where c.relkind in ('r', 'p') and not c.relispartition
     order by 1
  `)
  const found: string[] = []
  for (const { name } of tables) {
    const [row] = await database.many({
      strings: [`select 1 from "${name}" where ${column} = '${id}' limit 1`],
      values: [],
    })
    if (row !== undefined) found.push(name)
  }
  return found
}

/** Runs the erasure once nothing that began before the deletion can be under way. */
async function erased(look: () => Promise<boolean>): Promise<void> {
  world.clock.advance(3_660_000)
  await world.run('erasure')
  assert.ok(await look())
}

async function assertSound(): Promise<void> {
  for (const { check, count } of INVARIANTS)
    assert.equal(await count(database, new Date(world.clock.now()), world.app.deps.plans), 0, check)
}

test('an hour after a project was deleted all of its data is gone, and the other projects retain theirs', async () => {
  const home = await aHome()
  const { project } = (await ask(world, 'POST projects', { headers: home.headers, body: { name: 'Doomed' } })).body
  const { project: kept } = (await ask(world, 'POST projects', { headers: home.headers, body: { name: 'Kept' } })).body
  await fill(home, project.id)
  await fill(home, kept.id)
  const [gone, stays] = [project.id, kept.id].map((id) => decodeId('project', id) ?? '')
  const had = await tablesWith('project_id', stays ?? '')
  assert.ok(had.length >= 12, had.join(' '))
  await ask(world, `DELETE projects/${project.id}`, { headers: home.headers })
  await eraseEnded(world.app.deps)
  assert.ok(
    (await tablesWith('project_id', gone ?? '')).includes('submissions'),
    'not at once: work under way may still end',
  )
  await erased(async () => (await tablesWith('project_id', gone ?? '')).length === 0)
  const left = await tablesWith('project_id', stays ?? '')
  assert.deepEqual(
    had.filter((name) => !left.includes(name)),
    [],
  )
  const [lanes] = await database.many<{ count: number }>(
    sql`select count(*)::int as count from lanes where workspace_id = ${home.workspaceId}`,
  )
  assert.equal(lanes?.count, 1)
  await assertSound()
})

test('after 14 days a closed workspace is gone with all of its data except its audit log, its slug is free, and other workspaces retain theirs', async () => {
  const [home, neighbor] = [await aHome(), await aHome()]
  const projects = await Promise.all(
    [home, neighbor].map(async ({ headers }) => (await ask(world, 'GET projects', { headers })).body.projects[0].id),
  )
  const { url } = await fill(home, projects[0])
  await fill(neighbor, projects[1])
  const key = await aKeyOf(world, database, home)
  const member = await signedIn(world, await aMember(world, database, { workspaceId: home.workspaceId, role: 'admin' }))
  await ask(world, 'POST invites', { headers: home.headers, body: { email: 'too-late@example.com', role: 'viewer' } })
  await ask(world, 'POST rules', {
    headers: { ...home.headers, 'idempotency-key': 'k' },
    body: { name: 'once', dataset: 'd' },
  })
  const had = await tablesWith('workspace_id', neighbor.workspaceId)
  assert.equal(
    (await ask(world, 'POST workspace/close', { headers: home.headers, body: { confirm: home.slug } })).status,
    200,
  )
  await eraseEnded(world.app.deps)
  assert.equal(
    (await ask(world, 'GET workspace', { headers: member })).status,
    200,
    'nothing is deleted during the grace period',
  )
  await database.run(
    sql`update workspaces set closed_at = ${new Date(world.clock.now() - LIMITS.workspaceGraceMs)} where id = ${home.workspaceId}`,
  )
  assert.equal(
    (await ask(world, 'POST workspace/reopen', { headers: home.headers })).body.reason,
    'workspace_closed',
    'too late, before anything is deleted',
  )
  await erased(
    async () => (await database.many(sql`select 1 from workspaces where id = ${home.workspaceId}`)).length === 0,
  )
  // A session belongs to its person, who continues elsewhere.
  assert.deepEqual(
    (await tablesWith('workspace_id', home.workspaceId)).filter(
      (name) => !['audit_anchors', 'audit_rows', 'one_time_tokens', 'sessions'].includes(name),
    ),
    [],
  )
  const left = await tablesWith('workspace_id', neighbor.workspaceId)
  assert.deepEqual(
    had.filter((name) => !left.includes(name)),
    [],
  )
  assert.equal((await post(url, '{}')).status, 404)
  assert.equal((await ask(world, 'GET me', { headers: key.headers })).status, 401)
  assert.equal((await ask(world, 'GET me', { headers: member })).body.reason, 'no_workspace')
  const again = await ask(world, 'POST workspaces', { headers: member, body: { name: 'Again', slug: home.slug } })
  assert.equal(again.status, 201)
  const [last] = await database.many<{ action: string; actor: string }>(
    sql`select action, actor from audit_rows where workspace_id = ${home.workspaceId} order by id desc limit 1`,
  )
  assert.deepEqual(last, { action: 'delete_workspace', actor: 'system' })
  await assertSound()
})

test('a run continues where the previous one ended, and two simultaneous runs do not disturb each other', async () => {
  const home = await aHome()
  const project = world.app.deps.uuid()
  const deletedAt = new Date(world.clock.now() - 3_600_000)
  await database.run(sql`
    insert into projects (workspace_id, id, slug, name, config_changed_at, created_at, updated_at, deleted_at)
    values (${home.workspaceId}, ${project}, ${project}, 'Large', ${deletedAt}, ${deletedAt}, ${deletedAt}, ${deletedAt})
  `)
  await database.run(sql`
    insert into datasets (workspace_id, project_id, id, name, created_at)
    select ${home.workspaceId}, ${project}, gen_random_uuid(), 'd' || n, ${deletedAt} from generate_series(1, 120000) n
  `)
  const left = async (): Promise<number> =>
    (
      await database.one<{ count: number }>(
        sql`select count(*)::int as count from datasets where project_id = ${project}`,
      )
    ).count
  await Promise.all([eraseEnded(world.app.deps), eraseEnded(world.app.deps)])
  const rest = await left()
  assert.ok(rest > 0 && rest < 120_000, `${rest} rows are left`)
  for (let runs = 0; runs < 5; runs += 1) await eraseEnded(world.app.deps)
  assert.equal(await left(), 0)
})
