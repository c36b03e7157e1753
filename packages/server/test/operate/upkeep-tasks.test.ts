import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodeId, encodeId } from '@postroad/contract'
import { sql, type Database } from '../../src/platform/db.ts'
import { runUpkeep } from '../../src/workers/upkeep.ts'
import { runCommand } from '../stage/command.ts'
import { post, signedIn, statement } from '../stage/fixtures.ts'
import type { Answer, World } from '../stage/harness.ts'
import { ask, aWorkspace, theWorkspace } from '../stage/people.ts'
import { onWorldStage } from '../stage/world-stage.ts'

/** Upkeep is a list of tasks. One that always fails ends none of the pruning after it. */
let world: World
let database: Database
const logged: (readonly [event: string, fields: Readonly<Record<string, unknown>> | undefined])[] = []
const note = (event: string, fields?: Readonly<Record<string, unknown>>) => void logged.push([event, fields])

// Upkeep runs only when the test starts it.
onWorldStage(
  (made) => {
    ;({ world, database } = made)
  },
  { env: { ROLES: 'web,deliver' }, log: { debug: note, info: () => undefined, warn: note, error: note } },
)

const DAY_MS = 86_400_000

async function health(): Promise<Answer['body']> {
  const headers = await signedIn(world, await theWorkspace(database))
  return (await ask(world, 'GET platform/health', { headers })).body.health
}

type TaskShown = { readonly name: string; readonly failures: number; readonly last_error: string | null }

async function doctor() {
  const { code, stdout } = await runCommand(world, ['doctor', '--json'])
  const { findings, upkeep } = JSON.parse(stdout) as {
    findings: readonly { check: string; ok: boolean; found: number; meaning: string }[]
    upkeep: readonly TaskShown[]
  }
  return { code, upkeep, finding: findings.find(({ check }) => check === 'upkeep tasks succeed') }
}

/** The database refuses every deletion from these tables until `work` has ended. */
async function refusingDeletions(tables: readonly string[], work: () => Promise<void>): Promise<void> {
  await statement(
    database,
    "create or replace function refuse() returns trigger language plpgsql as $$ begin raise 'refused by the test'; end $$",
  )
  for (const table of tables)
    await statement(
      database,
      `create trigger refuse before delete on ${table} for each statement execute function refuse()`,
    )
  await work()
  for (const table of tables) await statement(database, `drop trigger refuse on ${table}`)
}

const failing = (tasks: readonly TaskShown[]): readonly (readonly [string, number, string | null])[] =>
  tasks.filter(({ failures }) => failures > 0).map(({ name, failures, last_error }) => [name, failures, last_error])

test('a task that fails each time stops no other task, and the doctor and the health name it until it succeeds', async () => {
  const old = new Date(world.clock.now() - 8 * DAY_MS)
  await database.run(sql`
    insert into mails (id, kind, sealed, created_at, due_at, expires_at, sent_at)
    values (gen_random_uuid(), 'test', '\\x00', ${old}, ${old}, ${old}, ${old})
  `)
  const mails = async (): Promise<number> =>
    (await database.one<{ found: number }>(sql`select count(*)::int as found from mails where created_at = ${old}`))
      .found
  await refusingDeletions(['credentials', 'sessions'], async () => {
    await assert.rejects(runUpkeep(world.app.deps), /^AggregateError: 2 parts failed\. The first: refused by the test/)
    assert.equal(await mails(), 0, 'the emails are pruned after the tasks that failed')
    assert.match((await doctor()).finding?.meaning ?? '', /sessions\.prune has failed once: refused by the test/)
    await assert.rejects(runUpkeep(world.app.deps))
  })
  const refused = [
    ['sessions.prune', 2, 'refused by the test'],
    ['webhook_urls.prune', 2, 'refused by the test'],
  ]
  const { upkeep, problems } = await health()
  assert.deepEqual(failing(upkeep), refused)
  assert.ok(
    upkeep.length >= 25 && upkeep.every(({ last_run_at }: { last_run_at: unknown }) => typeof last_run_at === 'string'),
  )
  assert.ok(
    problems.includes(
      'The upkeep task sessions.prune has failed 2 times in a row: refused by the test Look for "upkeep.task_failed" in the log.',
    ),
    problems.join('\n'),
  )
  const seen = await doctor()
  assert.deepEqual([seen.code, seen.finding?.ok], [1, false])
  assert.deepEqual(failing(seen.upkeep), refused)
  assert.match(
    (await runCommand(world, ['doctor'])).stdout,
    /^task {2}sessions\.prune .*failed 2 times in a row: refused/m,
  )
  const lines = logged.filter(([event]) => event === 'upkeep.task_failed').map(([, fields]) => fields?.['task'])
  assert.deepEqual(lines.slice(-2), ['webhook_urls.prune', 'sessions.prune'])

  await runUpkeep(world.app.deps)
  const after = await health()
  assert.deepEqual([failing(after.upkeep), after.problems], [[], []])
  const session = after.upkeep.find(({ name }: { name: string }) => name === 'sessions.prune')
  assert.equal(session.last_error, 'refused by the test', 'the last error stays visible, with its time')
  assert.equal(typeof session.last_failed_at, 'string')
})

test('a workspace whose old events cannot be deleted delays no other workspace, and its task counts as failed', async () => {
  const own = decodeId('workspace', world.installed.workspace.id) ?? ''
  const other = await aWorkspace(world, database, 'patient')
  const headers = await signedIn(world, other)
  const path = `projects/${encodeId('project', other.defaultProjectId)}`
  const { key } = (await ask(world, `POST ${path}/ingest-keys`, { headers, body: { name: 'k' } })).body
  assert.equal((await post(`${world.baseUrl}/v1/ingest/${key}/d`, '{}')).status, 201)
  assert.equal((await post(world.endpoint, '{}')).status, 201)
  await database.run(sql`update workspaces set plan = 'free'`)
  const left = async (): Promise<readonly string[]> =>
    (await database.many<{ id: string }>(sql`select distinct workspace_id as id from records`)).map(({ id }) => id)
  world.clock.advance(9 * DAY_MS)
  await statement(
    database,
    `create trigger refuse before delete on records for each row when (old.workspace_id = '${own}') execute function refuse()`,
  )
  await assert.rejects(runUpkeep(world.app.deps), {
    message: '1 failed, and the log names it as "events.not_expired".',
  })
  await statement(database, 'drop trigger refuse on records')
  assert.deepEqual(await left(), [own])
  assert.ok(
    logged.some(([event, of]) => event === 'events.not_expired' && of?.['id'] === world.installed.workspace.id),
    'the log names the workspace',
  )
  await runUpkeep(world.app.deps)
  assert.deepEqual(await left(), [])
})
