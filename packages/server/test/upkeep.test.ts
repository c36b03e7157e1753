import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql, type Database } from '../src/platform/db.ts'
import { makeDays } from '../src/platform/partitions.ts'
import { createUpkeep, DAY_TABLES } from '../src/workers/upkeep.ts'
import { behind, post } from './fixtures.ts'
import { aWorld, type World } from './harness.ts'

const DAY_MS = 86_400_000

let world: World
let database: Database

before(async () => {
  // Upkeep runs when the test says so, and beside no other.
  world = await aWorld({ env: { ROLES: 'web,deliver' } })
  database = behind(world)
})

after(async () => {
  await database.close()
  await world.stop()
})

/** The names of the days that submissions are kept in. */
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
  const upkeep = createUpkeep(world.app.deps)
  upkeep.start()
  await upkeep.stop()
}

test('nodes that keep house at the same moment do not fail each other', async () => {
  world.clock.advance(10 * DAY_MS)
  const at = { now: world.clock.now(), daysAhead: 3 }
  await Promise.all(Array.from({ length: 6 }, () => makeDays(world.app.deps.database, DAY_TABLES, at)))
  const known = await days()
  for (let ahead = -1; ahead <= 3; ahead += 1) assert.ok(known.includes(dayAt(world.clock.now() + ahead * DAY_MS)), `day ${ahead}`)
})

test('a day is dropped when no plan in use keeps it any longer', async () => {
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

test('a day that cannot be made behind a long transaction keeps no event waiting', async () => {
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
  const answers = await Promise.all(Array.from({ length: 20 }, (_unused, index) => post(world.endpoint, JSON.stringify({ index }))))
  assert.deepEqual([...new Set(answers.map(({ status }) => status))], [201])
  await failed
  end.resolve()
  await long
})

test('a day whose first rows came before its tables is left where it is', async () => {
  world.clock.advance(500 * DAY_MS)
  assert.equal((await post(world.endpoint, '{"early":true}')).status, 201)
  const made = await makeDays(world.app.deps.database, DAY_TABLES, { now: world.clock.now(), daysAhead: 0 })
  assert.deepEqual(made.filter((name) => name.endsWith(dayAt(world.clock.now()))), [`deliveries_${dayAt(world.clock.now())}`, `delivery_attempts_${dayAt(world.clock.now())}`])
  assert.equal((await post(world.endpoint, '{"late":true}')).status, 201)
})
