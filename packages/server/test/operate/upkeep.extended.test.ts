import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodeId } from '@postroad/contract'
import { sql, type Database } from '../../src/platform/db.ts'
import { makeDays } from '../../src/platform/partitions.ts'
import { createIndexer } from '../../src/resources/capture/search-index/index.ts'
import { deleteEndedReplays } from '../../src/resources/delivery/replays/queries.ts'
import { runUpkeep, DAY_TABLES } from '../../src/workers/upkeep.ts'
import { aDestination, behind, post, statement } from '../stage/fixtures.ts'
import { aSink, aWorld, type World } from '../stage/harness.ts'
import { onWorldStage } from '../stage/world-stage.ts'

const DAY_MS = 86_400_000

let world: World
let database: Database

// Upkeep runs only when the test starts it, and no other upkeep runs beside it.
onWorldStage(
  (made) => {
    ;({ world, database } = made)
  },
  { env: { ROLES: 'web,deliver' }, loops: [] },
)

/** The names of the days in which submissions are stored. */
async function days(): Promise<readonly string[]> {
  const rows = await database.many<{ name: string }>(sql`
    select right(c.relname, 8) as name
      from pg_inherits i
      join pg_class c on c.oid = i.inhrelid
     where i.inhparent = 'submissions'::regclass
       and c.relname ~ '_[0-9]{8}$'
     order by 1
  `)
  return rows.map(({ name }) => name)
}

const dayAt = (ms: number): string => new Date(ms).toISOString().slice(0, 10).replaceAll('-', '')

async function keepHouse(): Promise<void> {
  await runUpkeep(world.app.deps)
}

test('nodes that run upkeep at the same moment do not disturb each other', async () => {
  world.clock.advance(10 * DAY_MS)
  const at = { now: world.clock.now(), daysAhead: 3 }
  await Promise.all(Array.from({ length: 6 }, () => makeDays(world.app.deps.database, DAY_TABLES, at)))
  const known = await days()
  for (let ahead = -1; ahead <= 3; ahead += 1)
    assert.ok(known.includes(dayAt(world.clock.now() + ahead * DAY_MS)), `day ${ahead}`)
})

test('a day is dropped once no plan in use retains it', async () => {
  const first = dayAt(world.clock.now())
  await database.run(sql`update workspaces set plan = 'business'`)
  world.clock.advance(90 * DAY_MS)
  await keepHouse()
  assert.ok((await days()).includes(first), 'the plan keeps 90 days')
  world.clock.advance(DAY_MS)
  await keepHouse()
  assert.ok(!(await days()).includes(first))
  await database.run(sql`update workspaces set plan = 'self_hosted'`)
})

test('the creation of a day that fails behind a long transaction delays no event', async () => {
  const end = Promise.withResolvers<void>()
  const begun = Promise.withResolvers<void>()
  const long = database.transaction(async (tx) => {
    await tx.run(sql`lock table submissions in row exclusive mode`)
    begun.resolve()
    await end.promise
  })
  await begun.promise
  const { deps } = world.app
  const making = makeDays(deps.database, DAY_TABLES, { now: world.clock.now() + 400 * DAY_MS, daysAhead: 0 })
  const failed = assert.rejects(making, { code: '55P03' })
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_unused, index) => post(world.endpoint, JSON.stringify({ index }))),
  )
  assert.deepEqual([...new Set(answers.map(({ status }) => status))], [201])
  await failed
  end.resolve()
  await long
})

test('a day whose first rows came before its tables gets only the tables without rows, and accepts further events', async () => {
  world.clock.advance(500 * DAY_MS)
  assert.equal((await post(world.endpoint, '{"early":true}')).status, 201)
  const made = await makeDays(world.app.deps.database, DAY_TABLES, { now: world.clock.now(), daysAhead: 0 })
  assert.deepEqual(
    made.filter((name) => name.endsWith(dayAt(world.clock.now()))),
    ['deliveries', 'delivery_attempts', 'search_blocks'].map((table) => `${table}_${dayAt(world.clock.now())}`),
  )
  assert.equal((await post(world.endpoint, '{"late":true}')).status, 201)
})

/** The number of rows of a workspace in each table. */
function held(db: Database, workspaceId: string): Promise<Readonly<Record<string, number>>> {
  return db.one<Record<string, number>>(sql`
    select (select count(*) from submissions where workspace_id = ${workspaceId}) as submissions,
           (select count(*) from records where workspace_id = ${workspaceId}) as records,
           (select count(*) from deliveries where workspace_id = ${workspaceId}) as deliveries,
           (select count(*) from delivery_attempts where workspace_id = ${workspaceId}) as attempts,
           (select count(*) from search_blocks where workspace_id = ${workspaceId}) as blocks
  `)
}

test('a workspace retains its events for as many days as its own plan allows, whatever another plan retains', async (t) => {
  const other = await aWorld({ loops: [], now: world.clock.now() })
  t.after(() => other.stop())
  const beside = behind(other)
  t.after(() => beside.close())
  const short = decodeId('workspace', other.installed.workspace.id) ?? ''
  const long = '019b0000-0000-7000-8000-0000000000ff'
  const sink = await aSink()
  t.after(() => sink.stop())
  await aDestination(other, { url: sink.url })
  for (const n of [1, 2, 3]) assert.equal((await post(other.endpoint, `{"n":${n}}`)).status, 201)
  await other.idle()
  assert.equal((await other.admin('GET', 'deliveries?state=delivered')).body.deliveries.length, 3)
  other.clock.advance(61_000)
  await createIndexer(other.app.deps, 1)()
  await statement(
    beside,
    `insert into workspaces (id, slug, name, plan, created_at) select '${long}', 'long', name, 'business', created_at from workspaces`,
  )
  for (const table of ['submissions', 'records', 'deliveries', 'delivery_attempts', 'search_blocks']) {
    await statement(
      beside,
      `create temp table copied as select * from ${table}; update copied set workspace_id = '${long}'; insert into ${table} select * from copied; drop table copied`,
    )
  }
  await statement(beside, `update workspaces set plan = 'free' where id = '${short}'`)
  const all = { submissions: 3, records: 3, deliveries: 3, attempts: 3, blocks: 3 }
  const keep = async (): Promise<void> => {
    await runUpkeep(other.app.deps)
  }
  other.clock.advance(7 * DAY_MS)
  await keep()
  assert.deepEqual(await held(beside, short), all, 'the seventh day, and the rest of the previous one, are retained')
  other.clock.advance(DAY_MS)
  assert.equal((await post(other.endpoint, '{"n":4}')).status, 201)
  await other.idle()
  assert.equal((await other.admin('GET', 'deliveries?state=delivered')).body.deliveries.length, 4)
  await keep()
  assert.deepEqual(await held(beside, short), { submissions: 1, records: 1, deliveries: 1, attempts: 1, blocks: 0 })
  assert.deepEqual(await held(beside, long), all)
  const { body } = await other.admin('GET', 'records')
  assert.deepEqual(
    body.records.map(({ data }: { data: unknown }) => data),
    [{ n: 4 }],
  )
})

test('ended replays are deleted after the retention of their plan, in bounded pieces; replays under way stay', async (t) => {
  const own = await aWorld({ env: { ROLES: 'web' }, loops: [] })
  t.after(() => own.stop())
  const db = behind(own)
  t.after(() => db.close())
  const now = new Date(own.clock.now())
  const insert = (plan: string, { state, ended, count }: { state: string; ended: Date | null; count: number }) =>
    db.run(sql`
    insert into replays (workspace_id, project_id, id, kind, filter, rate_per_second, state, pause_reason, upto, next_at, created_at, updated_at, ended_at)
    select w.id, p.id, gen_random_uuid(), 'replay', '{}', 1, ${state}, case when ${state} = 'paused' then 'by_hand' end, p.id, ${now}, ${now}, ${now}, ${ended}
      from workspaces w join projects p on p.workspace_id = w.id and p.is_default, generate_series(1, ${count}::int)
     where w.plan = ${plan}
  `)
  await db.run(sql`update workspaces set plan = 'free'`)
  await insert('free', { state: 'done', ended: new Date(now.getTime() - 8 * DAY_MS), count: 7 })
  await insert('free', { state: 'cancelled', ended: new Date(now.getTime() - 6 * DAY_MS), count: 1 })
  await insert('free', { state: 'paused', ended: null, count: 1 })
  assert.equal(
    await deleteEndedReplays(db, { plan: 'free', before: new Date(now.getTime() - 7 * DAY_MS), limit: 3 }),
    3,
  )
  assert.equal(await deleteEndedReplays(db, { plan: 'team', before: now, limit: 100 }), 0)
  await runUpkeep(own.app.deps)
  const left = await db.many<{ state: string }>(sql`select state from replays order by state`)
  assert.deepEqual(
    left.map(({ state }) => state),
    ['cancelled', 'paused'],
  )
})
