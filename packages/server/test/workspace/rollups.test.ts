import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodeId } from '@postroad/contract'
import { quantileMs } from '../../src/domain/workspace/latency-histogram.ts'
import { sql, type Database } from '../../src/platform/db.ts'
import { rangeAt, sumDestinations, sumProjects, sumRejections } from '../../src/resources/workspace/rollups/index.ts'
import { rollUp } from '../../src/resources/workspace/rollups/roll-up.ts'
import { runUpkeep } from '../../src/workers/upkeep.ts'
import { aDestination, aWebhook, post } from '../stage/fixtures.ts'
import type { Sink, World } from '../stage/harness.ts'
import { theWorkspace } from '../stage/people.ts'
import { onWorldStage } from '../stage/world-stage.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 3_600_000

let world: World
let database: Database
let sink: Sink
let at: { workspaceId: string; projectIds: readonly string[] }

// The rollups count only when the test starts them.
onWorldStage(
  async (made) => {
    ;({ world, database, sink } = made)
    const { workspaceId, defaultProjectId } = await theWorkspace(database)
    at = { workspaceId, projectIds: [defaultProjectId] }
  },
  { env: { ROLES: 'web,deliver' }, loops: [] },
)

const count = (): Promise<void> => rollUp(world.app.deps)

/** Moves the clock by this much and counts then. */
async function later(ms: number): Promise<void> {
  world.clock.advance(ms)
  await count()
}

/** Past the grace period of everything that has arrived. */
const closed = (): Promise<void> => later(2 * MINUTE_MS + 1_000)

/** The content of the tables themselves between two moments, by timestamps that do not depend on ids. */
async function held({ from, to }: { from: number; to: number }): Promise<object> {
  const [first, until] = [new Date(from), new Date(to)]
  const attempts = await database.one<Record<string, number>>(sql`
    select count(*) filter (where outcome = 'succeeded') as succeeded, count(*) filter (where outcome = 'failed') as failed,
           count(*) filter (where outcome = 'interrupted') as interrupted, count(*) filter (where outcome is null) as open
      from delivery_attempts where started_at >= ${first} and started_at < ${until}
  `)
  const submissions = await database.one<Record<string, number>>(sql`
    select count(*) as submissions, coalesce(sum(cardinality(record_ids)), 0)::int as records, coalesce(sum(body_size), 0)::int as bytes
      from submissions where received_at >= ${first} and received_at < ${until}
  `)
  const { rejected } = await database.one<{ rejected: number }>(
    sql`select coalesce(sum(count), 0)::int as rejected from rejections where at >= ${first} and at < ${until}`,
  )
  return { ...submissions, rejected, ...attempts }
}

const NOTHING = { submissions: 0, records: 0, bytes: 0, rejected: 0, succeeded: 0, failed: 0, interrupted: 0, open: 0 }

/** The content of the rollups for the same range. */
async function reported(range: { from: number; to: number }): Promise<object> {
  const { pieces, from, to } = await rangeAt(database, { ...range, now: world.clock.now() })
  const [sums] = await sumProjects(database, {
    ...at,
    pieces,
    from: new Date(from),
    bucketSeconds: (to - from) / 1_000,
  })
  const counts: Record<string, unknown> = { ...NOTHING, ...sums }
  return Object.fromEntries(Object.keys(NOTHING).map((name) => [name, counts[name]]))
}

const minute = (ms = world.clock.now()): number => Math.floor(ms / MINUTE_MS) * MINUTE_MS

async function settled(destination: string): Promise<void> {
  await world.idle()
  const open = await database.many(
    sql`select 1 from deliveries where destination_id = ${decodeId('destination', destination) ?? ''} and state in ('pending', 'sending')`,
  )
  assert.deepEqual([...open], [])
}

async function refused(times: number): Promise<void> {
  await world.run('rejections.flush')
  const { sum } = await database.one<{ sum: number }>(sql`select coalesce(sum(count), 0)::int as sum from rejections`)
  assert.equal(sum, times)
}

test('each closed minute counts exactly the accepted, refused, delivered and failed events of the tables, and so do hours and ranges across both', async () => {
  const first = minute()
  const { destination } = await aDestination(world, {
    url: sink.url,
    datasets: ['counted'],
    retry: { schedule_seconds: [0] },
  })
  const { public_url } = await aWebhook(world, { dataset: 'counted' })
  const refusing = await aWebhook(world, { enabled: false })
  sink.answer((_request, index) => ({ status: index % 3 === 0 ? 500 : 200 }))
  for (let turn = 0; turn < 14; turn += 1) {
    for (let event = 0; event <= turn % 3; event += 1)
      assert.equal((await post(public_url, JSON.stringify({ turn, event }))).status, 201)
    if (turn % 4 === 0) {
      assert.equal((await post(refusing.public_url, '{}')).status, 503)
      await refused(turn / 4 + 1)
    }
    await settled(destination.id)
    await later([20_000, 45_000, 61_000, 9 * MINUTE_MS][turn % 4] ?? 0)
  }
  await closed()
  const last = minute()
  for (let one = first; one < last; one += MINUTE_MS)
    assert.deepEqual(
      await reported({ from: one, to: one + MINUTE_MS }),
      await held({ from: one, to: one + MINUTE_MS }),
      new Date(one).toISOString(),
    )
  await later(HOUR_MS)
  const [hours] = await database.many<{ count: number }>(
    sql`select count(*)::int as count from project_rollups where span_seconds = 3600`,
  )
  assert.equal(hours?.count, 1)
  const all = { from: first - 7 * MINUTE_MS, to: minute() }
  assert.deepEqual(await reported(all), await held(all))
  assert.deepEqual(
    await reported({ from: first, to: first + HOUR_MS }),
    await held({ from: first, to: first + HOUR_MS }),
  )
  const { pieces } = await rangeAt(database, { ...all, now: world.clock.now() })
  assert.ok(
    pieces.some(({ spanSeconds }) => spanSeconds === 3_600) && pieces.some(({ spanSeconds }) => spanSeconds === 60),
  )
  assert.deepEqual(
    (await sumRejections(database, { ...at, pieces })).map(({ reason, count: times }) => [reason, times]),
    [['endpoint_disabled', 4]],
  )
  const [sums] = await sumDestinations(database, { ...at, pieces, failing: null })
  const { succeeded, failed, gave_up, response_ms, delivery_ms } = sums ?? assert.fail('the destination has no row')
  assert.deepEqual(
    [succeeded, failed, gave_up],
    [sink.received.length - failed, Math.ceil(sink.received.length / 3), failed],
    'each failure was the last of its schedule',
  )
  assert.equal(
    response_ms.reduce((a, b) => a + b, 0),
    succeeded + failed,
  )
  assert.equal(
    delivery_ms.reduce((a, b) => a + b, 0),
    succeeded,
  )
  assert.notEqual(quantileMs(response_ms, 0.95), null)
})

/** A submission written directly to the database, with an id of this moment. */
async function aLateCommit(ms: number): Promise<void> {
  const id = world.app.deps.uuid().slice(14)
  const time = ms.toString(16).padStart(12, '0')
  await database.run(sql`
    insert into submissions (workspace_id, project_id, id, received_at, headers, body, body_size, decision, record_ids)
    values (${at.workspaceId}, ${at.projectIds[0] ?? ''}, ${`${time.slice(0, 8)}-${time.slice(8)}-${id}`}, ${new Date(ms)}, '{}', '{}', 2, '{}', '{}')
  `)
}

test('an event that is committed late is still counted in its minute', async () => {
  world.clock.advance(HOUR_MS - (world.clock.now() % HOUR_MS))
  const range = { from: world.clock.now(), to: world.clock.now() + MINUTE_MS }
  assert.equal((await post(world.endpoint, '{}')).status, 201)
  await later(MINUTE_MS + 6_000)
  await aLateCommit(range.to - 1)
  await later(MINUTE_MS)
  assert.deepEqual(await reported(range), await held(range))
  assert.deepEqual(await reported(range), { ...NOTHING, submissions: 2, records: 1, bytes: 4 })
})

test('an attempt that is open when its minute closes moves to its outcome later, in the minute and in its hour', async () => {
  const { destination } = await aDestination(world, { url: sink.url, datasets: ['open'] })
  const [id, destinationId, startedAt] = [
    world.app.deps.uuid(),
    decodeId('destination', destination.id) ?? '',
    new Date(world.clock.now()),
  ]
  const range = { from: minute(), to: minute() + MINUTE_MS }
  const hour = {
    from: Math.floor(range.from / HOUR_MS) * HOUR_MS,
    to: Math.floor(range.from / HOUR_MS) * HOUR_MS + HOUR_MS,
  }
  await database.run(sql`
    insert into delivery_attempts (workspace_id, project_id, id, delivery_id, destination_id, number, trigger, fence, started_at)
    values (${at.workspaceId}, ${at.projectIds[0] ?? ''}, ${id}, ${id}, ${destinationId}, 1, 'initial', 1, ${startedAt})
  `)
  await later(2 * HOUR_MS)
  for (const one of [range, hour]) assert.deepEqual(await reported(one), await held(one))
  const opened = await reported(range)
  await database.run(sql`update delivery_attempts set outcome = 'interrupted' where id = ${id}`)
  await later(10_000)
  for (const one of [range, hour]) assert.deepEqual(await reported(one), await held(one))
  assert.notDeepEqual(await reported(range), opened)
})

test('several processes that count at the same time count nothing twice', async () => {
  const range = { from: minute(), to: minute() + MINUTE_MS }
  for (let event = 0; event < 5; event += 1) assert.equal((await post(world.endpoint, '{}')).status, 201)
  world.clock.advance(3 * MINUTE_MS)
  await Promise.all([count(), count(), count()])
  await later(10_000)
  assert.deepEqual(await reported(range), { ...NOTHING, submissions: 5, records: 5, bytes: 10 })
})

test('an installation that was down for weeks counts up to the present in a few runs, and has the events from before and after', async () => {
  const earlier = { from: minute(), to: minute() + MINUTE_MS }
  assert.equal((await post(world.endpoint, '{}')).status, 201)
  world.clock.advance(40 * 86_400_000)
  const recent = { from: minute(), to: minute() + MINUTE_MS }
  assert.equal((await post(world.endpoint, '{}')).status, 201)
  await count()
  await later(2 * MINUTE_MS + 1_000)
  await later(10_000)
  assert.ok((await rangeAt(database, { ...recent, now: world.clock.now() })).closedUntil >= recent.to)
  const one = { ...NOTHING, submissions: 1, records: 1, bytes: 2 }
  assert.deepEqual(await reported(recent), one)
  // For times so long ago there are only hours.
  const hour = Math.floor(earlier.from / HOUR_MS) * HOUR_MS
  assert.deepEqual(await reported(earlier), await held({ from: hour, to: hour + HOUR_MS }))
})

type Span = { readonly of: string; readonly span_seconds: number; readonly count: number }

/** The number of rows of each kind. */
async function spans(): Promise<readonly Span[]> {
  const rows = await database.many<Span>(sql`
    select 'project' as of, span_seconds, count(*)::int as count from project_rollups group by 2
     union all
    select 'destination', span_seconds, count(*)::int from destination_rollups group by 2
     order by 1, 2
  `)
  return [...rows]
}

test('minutes are deleted after 8 days, hours after 400, and nothing else is', async () => {
  const { deps } = world.app
  const keepHouse = async (): Promise<void> => {
    await runUpkeep(deps)
  }
  const had = await spans()
  assert.deepEqual(
    had.map(({ of, span_seconds }) => [of, span_seconds]),
    [
      ['destination', 60],
      ['destination', 3_600],
      ['project', 60],
      ['project', 3_600],
    ],
  )
  await keepHouse()
  const [, hoursD, minutesP, hoursP] = had
  assert.deepEqual(await spans(), [hoursD, { ...minutesP, count: 1 }, hoursP], 'the last minute is recent')
  world.clock.advance(401 * 86_400_000)
  await keepHouse()
  assert.deepEqual(await spans(), [])
})
