import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { test } from 'node:test'
import { decodeId, encodeId } from '@postroad/contract'
import { admitQuarantined } from '../../src/pipeline/quarantine/admit.ts'
import { sql, type Database } from '../../src/platform/db.ts'
import type { Log } from '../../src/platform/log.ts'
import { releaseWaiting } from '../../src/resources/delivery/deliveries/release/index.ts'
import { advanceReplays } from '../../src/resources/delivery/replays/index.ts'
import { finishDeletions } from '../../src/resources/workspace/deletions/index.ts'
import type { LoopWork } from '../../src/platform/separate-rows.ts'
import { eraseEnded } from '../../src/resources/workspace/erasure/index.ts'
import { aDestination, aName, aWebhook, post, signedIn, statement } from '../stage/fixtures.ts'
import type { World } from '../stage/harness.ts'
import { ask, aWorkspace } from '../stage/people.ts'
import { onWorldStage } from '../stage/world-stage.ts'

/** Loops over the rows of all tenants. One row that the database refuses must stop none of the others. */
let world: World
let database: Database
const warned: (readonly [string, unknown])[] = []
const log: Log = {
  debug: () => undefined,
  info: () => undefined,
  warn: (event, fields) => void warned.push([event, fields?.['id']]),
  error: () => undefined,
}

onWorldStage(
  async (made) => {
    ;({ world, database } = made)
    // No loop runs by itself: each test runs the loop that it is about.
    await statement(
      database,
      'create function refuse_row() returns trigger language plpgsql as $$ begin raise check_violation; end $$',
    )
  },
  { env: { ROLES: 'web' }, log, loops: [] },
)

/** Runs `work` while the database refuses every change of one row. */
async function refusing(
  row: { table: string; column?: string; id: string },
  work: () => Promise<LoopWork>,
): Promise<void> {
  const { table, column = 'id', id } = row
  await statement(
    database,
    `create trigger refuse_row before update on ${table} for each row when (new.${column} = '${id}') execute function refuse_row()`,
  )
  assert.equal((await work()).failed, 1, 'the row that failed is counted')
  await statement(database, `drop trigger refuse_row on ${table}`)
}

const uuidOf = (kind: Parameters<typeof decodeId>[0], id: string): string => decodeId(kind, id) ?? ''

/** An event for a separate destination, whose delivery is in this state. */
async function anEvent(state: string): Promise<{ readonly id: string; readonly uuid: string }> {
  const dataset = aName('set').replace(' ', '_')
  const { destination } = await aDestination(world, { url: 'https://example.com/', datasets: [dataset] })
  assert.equal((await post(`${world.endpoint}/${dataset}`, '{}')).status, 201)
  const uuid = uuidOf('destination', destination.id)
  await database.run(sql`update deliveries set state = ${state}, next_attempt_at = null where destination_id = ${uuid}`)
  return { id: destination.id, uuid }
}

test('a replay whose page fails is logged, and the other replays advance in the same run', async () => {
  const replays: string[] = []
  for (const { id } of [await anEvent('failed'), await anEvent('failed')]) {
    const { body } = await world.admin('POST', 'deliveries/replays', { filter: { destination_id: id } })
    replays.push(body.replay.id)
    world.clock.advance(1)
  }
  const replayed = async (): Promise<readonly number[]> =>
    Promise.all(replays.map(async (id) => (await world.admin('GET', `deliveries/replays/${id}`)).body.replay.replayed))
  const [bad = ''] = replays
  await refusing({ table: 'replays', id: uuidOf('replay', bad) }, () => advanceReplays(world.app.deps))
  assert.deepEqual(await replayed(), [0, 1])
  assert.deepEqual(warned.at(-1), ['replay.not_advanced', bad])
  await advanceReplays(world.app.deps)
  assert.deepEqual(await replayed(), [1, 1])
})

test('an endpoint whose quarantine fails is logged, and the requests of the next endpoints are admitted in the same run', async () => {
  const signature = createHmac('sha256', 'right').update('{}').digest('hex')
  const webhooks: string[] = []
  for (let n = 0; n < 21; n += 1) {
    const { id, public_url: url } = await aWebhook(world, { verification: { scheme: 'code_host', secret: 'wrong' } })
    await world.admin('PUT', `webhooks/${id}/quarantine`, { hours: 24 })
    const { status } = await post(url, '{}', { headers: { 'x-hub-signature-256': `sha256=${signature}` } })
    assert.equal(status, 401)
    world.clock.advance(1_000)
    await world.admin('PATCH', `webhooks/${id}`, { verification: { scheme: 'code_host', secret: 'right' } })
    webhooks.push(id)
  }
  const waiting = async (): Promise<readonly string[]> =>
    (await database.many<{ id: string }>(sql`select webhook_id as id from quarantined_requests`)).map(({ id }) => id)
  // All but one fail. The loop reads them in several pages.
  const last = uuidOf('webhook', webhooks.at(-1) ?? '')
  await statement(
    database,
    `create trigger refuse_row before delete on quarantined_requests for each row when (old.webhook_id <> '${last}') execute function refuse_row()`,
  )
  const { failed } = await admitQuarantined({ ...world.app.deps, acceptAll: world.app.acceptAll })
  assert.equal(failed, 20)
  await statement(database, 'drop trigger refuse_row on quarantined_requests')
  assert.deepEqual([(await waiting()).includes(last), (await waiting()).length], [false, 20])
  assert.ok(warned.some(([event]) => event === 'quarantine.not_admitted'))
  await admitQuarantined({ ...world.app.deps, acceptAll: world.app.acceptAll })
  assert.equal((await waiting()).length, 0)
})

test('a restored destination that cannot be resumed is logged, and the next one is resumed in the same run', async () => {
  const deletions: string[] = []
  for (let n = 0; n < 2; n += 1) {
    const { id } = await anEvent('delivered')
    const deletion = (await world.admin('DELETE', `destinations/${id}`)).body.deletion.id
    assert.equal((await world.admin('POST', `deletions/${deletion}/restore`)).status, 200)
    deletions.push(deletion)
    world.clock.advance(1_000)
  }
  await database.run(sql`update deletions set resuming = true where restored_at is not null`)
  const resuming = async (): Promise<readonly string[]> => {
    const rows = await database.many<{ id: string }>(sql`select id from deletions where resuming`)
    return rows.map(({ id }) => encodeId('deletion', id))
  }
  const [bad = ''] = deletions
  await refusing({ table: 'deletions', id: uuidOf('deletion', bad) }, () => finishDeletions(world.app.deps))
  assert.deepEqual(await resuming(), [bad])
  assert.ok(warned.some(([event, id]) => event === 'deletion.not_resumed' && id === bad))
  await finishDeletions(world.app.deps)
  assert.deepEqual(await resuming(), [])
})

test('a deleted project that cannot be erased is logged, and the next one is erased in the same run', async () => {
  const { workspaceId } = await aWorkspace(world, database, 'doomed')
  const projects: string[] = []
  for (let n = 0; n < 2; n += 1) {
    const [id, deletedAt] = [world.app.deps.uuid(), new Date(world.clock.now() - 7_200_000 + n)]
    await database.run(sql`
      insert into projects (workspace_id, id, slug, name, config_changed_at, created_at, updated_at, deleted_at)
      values (${workspaceId}, ${id}, ${id}, 'Doomed', ${deletedAt}, ${deletedAt}, ${deletedAt}, ${deletedAt})
    `)
    projects.push(id)
  }
  const left = async (): Promise<readonly string[]> => {
    const rows = await database.many<{ id: string }>(
      sql`select id from projects where deleted_at is not null and emptied_at is null`,
    )
    return rows.map(({ id }) => id)
  }
  const [bad = ''] = projects
  await refusing({ table: 'projects', id: bad }, () => eraseEnded(world.app.deps))
  assert.deepEqual(await left(), [bad])
  assert.ok(warned.some(([event, id]) => event === 'erasure.not_done' && id === encodeId('project', bad)))
  await eraseEnded(world.app.deps)
  assert.deepEqual(await left(), [])
})

test('a workspace whose waiting deliveries cannot be released is logged, and those of the next one are released in the same run', async () => {
  const own = uuidOf('workspace', world.installed.workspace.id)
  await anEvent('failed')
  const other = await aWorkspace(world, database, 'patient')
  const headers = await signedIn(world, other)
  const path = `projects/${encodeId('project', other.defaultProjectId)}`
  await ask(world, `POST ${path}/destinations`, { headers, body: { name: 'd', url: 'https://example.com/' } })
  const { key } = (await ask(world, `POST ${path}/ingest-keys`, { headers, body: { name: 'k' } })).body
  assert.equal((await post(`${world.baseUrl}/v1/ingest/${key}/d`, '{}')).status, 201)
  await database.run(
    sql`update deliveries set state = 'paused', pause_reason = 'allowance_used', next_attempt_at = null`,
  )
  const waiting = async (): Promise<readonly string[]> => {
    const rows = await database.many<{ id: string }>(
      sql`select distinct workspace_id as id from deliveries where pause_reason = 'allowance_used'`,
    )
    return rows.map(({ id }) => id)
  }
  await refusing({ table: 'deliveries', column: 'workspace_id', id: own }, () => releaseWaiting(world.app.deps))
  assert.deepEqual(await waiting(), [own])
  assert.ok(warned.some(([event, id]) => event === 'allowance.not_released' && id === world.installed.workspace.id))
  await releaseWaiting(world.app.deps)
  assert.deepEqual(await waiting(), [])
})
