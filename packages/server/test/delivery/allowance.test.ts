import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { decodeId } from '@postroad/contract'
import { monthOf, nextMonthAt } from '../../src/domain/workspace/month.ts'
import { sql, type Database } from '../../src/platform/db.ts'
import { releaseWaiting } from '../../src/resources/delivery/deliveries/release/index.ts'
import { INVARIANTS } from '../../src/resources/operate/installation/invariants.ts'
import { advanceReplays } from '../../src/resources/delivery/replays/index.ts'
import { runUpkeep } from '../../src/workers/upkeep.ts'
import { aPerson } from '../stage/accounts.ts'
import { aDestination, behind, post } from '../stage/fixtures.ts'
import { aWorld, type Answer, type World } from '../stage/harness.ts'

/** Of the team plan. Its quota of events is far away from what these tests send. */
const ALLOWANCE = 2_500_000
const DAY_MS = 86_400_000

/** Nothing is sent and nothing is let go by itself: the tests do that, and read the rows. */
let world: World
let beside: World
let database: Database

before(async () => {
  world = await aWorld({ env: { ROLES: 'web', LOG_LEVEL: 'silent' } })
  beside = await aWorld({ env: { ROLES: 'web', LOG_LEVEL: 'silent' }, beside: world })
  database = behind(world)
})
after(async () => {
  await database.close()
  await beside.stop()
  await world.stop()
})

const workspaceId = (): string => decodeId('workspace', world.installed.workspace.id) ?? ''
const month = (): string => monthOf(world.clock.now())

async function onPlan(plan: string): Promise<void> {
  await database.run(sql`update workspaces set plan = ${plan} where id = ${workspaceId()}`)
  for (const { app, installed } of [world, beside])
    app.deps.configChanged(decodeId('project', installed.project.id) ?? '')
}

/** So many deliveries are left of this month. */
async function withLeft(left: number): Promise<void> {
  await database.run(sql`
    insert into monthly_usage (workspace_id, month, events, deliveries) values (${workspaceId()}, ${month()}::date, 0, ${ALLOWANCE - left})
    on conflict (workspace_id, month) do update set deliveries = excluded.deliveries
  `)
  await onPlan('team')
}

async function used(): Promise<number> {
  const row = await database.maybe<{ deliveries: number }>(
    sql`select deliveries from monthly_usage where workspace_id = ${workspaceId()} and month = ${month()}::date`,
  )
  return row?.deliveries ?? 0
}

type Row = {
  readonly id: string
  readonly state: string
  readonly pause_reason: string | null
  readonly destination_id: string
  readonly due: boolean
}

const rows = (): Promise<readonly Row[]> =>
  database.many<Row>(
    sql`select id, state, pause_reason, destination_id, next_attempt_at is not null as due from deliveries order by id`,
  )

/** How many there are in each state, with the reason of those that are paused. */
async function states(): Promise<Readonly<Record<string, number>>> {
  const counts: Record<string, number> = {}
  for (const { state, pause_reason } of await rows())
    counts[pause_reason ?? state] = (counts[pause_reason ?? state] ?? 0) + 1
  return counts
}

async function send(count: number, at: World = world): Promise<void> {
  for (let n = 0; n < count; n += 1) assert.equal((await post(at.endpoint, `{"n":${n}}`)).status, 201)
}

const auditOf = async (action: string): Promise<Answer['body'][]> =>
  (await world.admin('GET', `audit?action=${action}`)).body.audit

/** On both nodes. */
function setClock(ms: number): void {
  for (const { clock } of [world, beside]) clock.set(ms)
}

const turnMonth = (): void => setClock(nextMonthAt(world.clock.now()))
const advance = (ms: number): void => setClock(world.clock.now() + ms)

beforeEach(async () => {
  for (const table of ['deliveries', 'delivery_attempts', 'replays', 'monthly_usage'])
    await database.run({ strings: [`delete from ${table}`], values: [] })
  for (const { id } of (await world.admin('GET', 'destinations')).body.destinations)
    await world.admin('DELETE', `destinations/${id}`)
  await onPlan('self_hosted')
})

const aTarget = (members: object = {}): Promise<{ readonly destination: Answer['body'] }> =>
  aDestination(world, { url: 'https://example.com/', ...members })

test('200 events at once over two processes with room for 50 deliveries: all are accepted, exactly 50 deliveries do not wait, and none is dropped', async () => {
  await aTarget()
  await withLeft(50)
  const answers = await Promise.all(
    Array.from({ length: 200 }, (_none, n) =>
      post(
        (n % 2 === 0 ? world : beside).endpoint.replace(world.baseUrl, n % 2 === 0 ? world.baseUrl : beside.baseUrl),
        '{}',
      ),
    ),
  )
  assert.ok(answers.every(({ status }) => status === 201))
  assert.deepEqual(await states(), { pending: 50, allowance_used: 150 })
  assert.equal(await used(), ALLOWANCE)
  for (const row of await rows()) assert.equal(row.due, row.state === 'pending')
})

test('of one event the first deliveries have the room that there is, also those whose destination is off: they count when they are let go', async () => {
  await aTarget()
  await aTarget({ enabled: false })
  await aTarget()
  await withLeft(2)
  await send(1)
  assert.deepEqual(await states(), { pending: 1, destination_disabled: 1, allowance_used: 1 })
  assert.equal(await used(), ALLOWANCE)
})

test('an event that goes nowhere uses none of it, and a workspace whose plan has no allowance counts nothing', async () => {
  await withLeft(5)
  await send(1)
  assert.equal(await used(), ALLOWANCE - 5)
  await onPlan('self_hosted')
  await aTarget()
  await database.run(sql`delete from monthly_usage`)
  await send(2)
  const { found } = await database.one<{ found: number }>(sql`select count(*) as found from monthly_usage`)
  assert.deepEqual([found, await states()], [0, { pending: 2 }])
})

test('when the month turns they are let go, the oldest first and as many as have room, and count in the new month', async () => {
  await aTarget()
  await withLeft(0)
  await send(12)
  await releaseWaiting(world.app.deps)
  assert.deepEqual(await states(), { allowance_used: 12 })
  turnMonth()
  await withLeft(7)
  await Promise.all([releaseWaiting(world.app.deps), releaseWaiting(beside.app.deps)])
  assert.deepEqual(
    (await rows()).map(({ state }) => state),
    [...Array<string>(7).fill('pending'), ...Array<string>(5).fill('paused')],
  )
  assert.equal(await used(), ALLOWANCE)
  await releaseWaiting(world.app.deps)
  assert.equal(await used(), ALLOWANCE)
})

test('more than one piece is let go in pieces, by two processes at once, and none counts twice', async () => {
  await aTarget()
  await withLeft(0)
  await send(1)
  await database.run(sql`
    insert into deliveries (workspace_id, project_id, id, record_id, destination_id, state, pause_reason, created_at, updated_at)
    select workspace_id, project_id, gen_random_uuid(), record_id, destination_id, state, pause_reason, created_at, updated_at from deliveries, generate_series(1, 1300)
  `)
  turnMonth()
  await Promise.all([releaseWaiting(world.app.deps), releaseWaiting(beside.app.deps)])
  await releaseWaiting(world.app.deps)
  assert.deepEqual(await states(), { pending: 1_301 })
  assert.equal(await used(), 1_301)
})

test('a plan without an allowance lets all go and counts nothing, a larger one as many as it has room for', async () => {
  await aTarget()
  await withLeft(0)
  await send(3)
  await onPlan('business')
  await releaseWaiting(world.app.deps)
  assert.deepEqual([await states(), await used()], [{ pending: 3 }, ALLOWANCE + 3])
  await withLeft(0)
  await send(2)
  await onPlan('self_hosted')
  await releaseWaiting(world.app.deps)
  assert.deepEqual([await states(), await used()], [{ pending: 5 }, ALLOWANCE])
})

test('one whose destination is off by then waits for that; those of a suspended workspace, and cancelled ones, are not let go', async () => {
  const { destination } = await aTarget()
  await withLeft(0)
  await send(3)
  const [first, second] = await rows()
  assert.ok(first && second)
  await world.admin('POST', `deliveries/dlv_${(await listedIds())[2]}/cancel`)
  await world.admin('PATCH', `destinations/${destination.id}`, { enabled: false })
  await world.admin('PATCH', `destinations/${destination.id}`, { enabled: true })
  assert.equal(
    (await states())['allowance_used'],
    2,
    'switching its destination on sends nothing that waits for the allowance',
  )
  await world.admin('PATCH', `destinations/${destination.id}`, { enabled: false })
  turnMonth()
  await database.run(sql`update workspaces set suspended_at = now() where id = ${workspaceId()}`)
  await releaseWaiting(world.app.deps)
  assert.equal((await states())['allowance_used'], 2)
  await database.run(sql`update workspaces set suspended_at = null where id = ${workspaceId()}`)
  await releaseWaiting(world.app.deps)
  assert.deepEqual([await states(), await used()], [{ destination_disabled: 2, cancelled: 1 }, 2])
})

/** Without their prefix, newest first. */
async function listedIds(): Promise<readonly string[]> {
  return (await world.admin('GET', 'deliveries')).body.deliveries.map(({ id }: { id: string }) =>
    id.slice('dlv_'.length),
  )
}

/** Deliveries that have failed, and their public ids. */
async function failedOnes(count: number): Promise<readonly string[]> {
  await aTarget()
  await send(count)
  await database.run(sql`update deliveries set state = 'failed', next_attempt_at = null`)
  return (await listedIds()).map((id) => `dlv_${id}`)
}

test('a replay counts; without any left it is refused with 429 delivery_allowance_exhausted, retry_after and upgrade_url, and changes nothing', async () => {
  const [one, other] = await failedOnes(2)
  await withLeft(1)
  assert.equal((await world.admin('POST', `deliveries/${one}/replay`)).body.delivery.state, 'pending')
  assert.equal(await used(), ALLOWANCE)
  const audited = (await auditOf('replay_delivery')).length
  const { status, headers, body } = await world.admin('POST', `deliveries/${other}/replay`)
  const seconds = (nextMonthAt(world.clock.now()) - world.clock.now()) / 1_000
  assert.deepEqual(
    [status, body.reason, body.retry_after, headers.get('retry-after'), body.upgrade_url],
    [429, 'delivery_allowance_exhausted', Math.ceil(seconds), String(Math.ceil(seconds)), world.baseUrl],
  )
  assert.deepEqual(
    [await states(), await used(), (await auditOf('replay_delivery')).length],
    [{ failed: 1, pending: 1 }, ALLOWANCE, audited],
  )
  assert.equal(
    (await world.admin('POST', `deliveries/${one}/replay`)).body.reason,
    'invalid_state',
    'one that has not ended is refused for that',
  )
})

test('of 30 replays at once over two processes with 5 left exactly 5 are sent', async () => {
  const ids = await failedOnes(30)
  await withLeft(5)
  const answers = await Promise.all(
    ids.map((id, n) => (n % 2 === 0 ? world : beside).admin('POST', `deliveries/${id}/replay`)),
  )
  assert.deepEqual(
    [200, 429].map((status) => answers.filter((answer) => answer.status === status).length),
    [5, 25],
  )
  assert.deepEqual([await states(), await used()], [{ pending: 5, failed: 25 }, ALLOWANCE])
})

test('one that waits for the allowance can be cancelled and then be replayed; retrying and replaying it says what it waits for', async () => {
  await aTarget()
  await withLeft(0)
  await send(1)
  const [id] = (await listedIds()).map((one) => `dlv_${one}`)
  for (const verb of ['retry', 'replay']) {
    const { status, body } = await world.admin('POST', `deliveries/${id}/${verb}`)
    assert.deepEqual([status, body.reason], [409, 'invalid_state'])
    assert.match(body.error, /used up.*next month/)
  }
  assert.equal((await world.admin('POST', `deliveries/${id}/cancel`)).body.delivery.state, 'cancelled')
  assert.equal((await world.admin('POST', `deliveries/${id}/replay`)).body.reason, 'delivery_allowance_exhausted')
  await withLeft(1)
  assert.equal((await world.admin('POST', `deliveries/${id}/replay`)).body.delivery.state, 'pending')
})

const replayAll = (more: object = {}): Promise<Answer> =>
  world.admin('POST', 'deliveries/replays', { filter: { state: ['failed'] }, rate_per_second: 1_000, ...more })

test('the plan of a replay of many says what is left and whether it suffices; with none left it is refused', async () => {
  await failedOnes(3)
  assert.equal((await replayAll({ dry_run: true })).body.plan.allowance, null)
  await withLeft(3)
  assert.deepEqual((await replayAll({ dry_run: true })).body.plan.allowance, { left: 3, suffices: true })
  await withLeft(2)
  assert.deepEqual((await replayAll({ dry_run: true })).body.plan.allowance, { left: 2, suffices: false })
  await withLeft(0)
  assert.deepEqual((await replayAll({ dry_run: true })).body.plan.allowance, { left: 0, suffices: false })
  const refused = await replayAll()
  assert.deepEqual(
    [refused.status, refused.body.reason, typeof refused.body.retry_after],
    [429, 'delivery_allowance_exhausted', 'number'],
  )
  const [{ id }] = (await world.admin('GET', 'destinations')).body.destinations
  const recover = await world.admin('POST', `destinations/${id}/recover`, { since: '2026-01-01T00:00:00Z' })
  assert.deepEqual([recover.status, recover.body.reason], [429, 'delivery_allowance_exhausted'])
  assert.equal((await world.admin('GET', 'deliveries/replays')).body.replays.length, 0)
})

test('a replay of many that comes to the end of the allowance pauses there, and goes on by itself when there is room again', async () => {
  await failedOnes(10)
  await withLeft(4)
  const { replay } = (await replayAll()).body
  const look = async (): Promise<Answer['body']> =>
    (await world.admin('GET', `deliveries/replays/${replay.id}`)).body.replay
  const run = async (): Promise<void> => {
    await Promise.all([advanceReplays(world.app.deps), advanceReplays(beside.app.deps)])
    advance(2_000)
  }
  await run()
  const stopped = await look()
  assert.deepEqual(
    [stopped.state, stopped.pause_reason, stopped.replayed, stopped.ended_at],
    ['paused', 'allowance_used', 4, null],
  )
  assert.deepEqual([await states(), await used()], [{ retrying: 4, failed: 6 }, ALLOWANCE])
  const resume = await world.admin('POST', `deliveries/replays/${replay.id}/resume`)
  assert.deepEqual([resume.status, resume.body.reason], [429, 'delivery_allowance_exhausted'])
  assert.equal((await look()).state, 'paused')
  await withLeft(5)
  await run()
  assert.deepEqual([(await look()).state, (await look()).replayed, await used()], ['paused', 9, ALLOWANCE])
  turnMonth()
  for (let n = 0; n < 3; n += 1) await run()
  const ended = await look()
  assert.deepEqual([ended.state, ended.pause_reason, ended.replayed, ended.skipped], ['done', null, 10, 0])
  assert.deepEqual([await states(), await used()], [{ retrying: 10 }, 1])
})

test('one that needs exactly what is left ends as done', async () => {
  await failedOnes(4)
  await withLeft(4)
  const { replay } = (await replayAll()).body
  for (let n = 0; n < 3; n += 1) {
    await advanceReplays(world.app.deps)
    advance(2_000)
  }
  assert.equal((await world.admin('GET', `deliveries/replays/${replay.id}`)).body.replay.state, 'done')
  assert.deepEqual([await states(), await used()], [{ retrying: 4 }, ALLOWANCE])
})

const mails = async (): Promise<number> =>
  (
    await database.one<{ found: number }>(
      sql`select count(*) as found from mails where kind = 'delivery_allowance_used'`,
    )
  ).found

test('that it is used up is audited and mailed to owners and admins once a month', async () => {
  for (const role of ['owner', 'admin', 'developer']) await aPerson(world, database, role)
  await aTarget()
  await withLeft(0)
  await send(1)
  const audited = (await auditOf('delivery_allowance_used')).length
  const had = await mails()
  await Promise.all([releaseWaiting(world.app.deps), releaseWaiting(beside.app.deps)])
  await releaseWaiting(world.app.deps)
  const [row] = await auditOf('delivery_allowance_used')
  assert.deepEqual(
    [(await auditOf('delivery_allowance_used')).length - audited, row.target, row.details],
    [1, world.installed.workspace.id, { month: month().slice(0, 7), deliveries: ALLOWANCE }],
  )
  assert.equal((await mails()) - had, 2)
  turnMonth()
  await withLeft(0)
  await releaseWaiting(world.app.deps)
  assert.deepEqual([(await auditOf('delivery_allowance_used')).length - audited, (await mails()) - had], [2, 4])
})

test('usage tells what was let go of what the plan allows, and metrics what had to wait', async () => {
  await aTarget()
  await withLeft(1)
  await send(3)
  const { usage } = (await world.admin('GET', 'dashboard/summary')).body.summary
  assert.deepEqual([usage.deliveries, usage.max_deliveries], [ALLOWANCE, ALLOWANCE])
  assert.match(
    await (await fetch(`${world.baseUrl}/metrics`)).text(),
    /^postroad_deliveries_beyond_allowance_total [1-9]/m,
  )
  await onPlan('self_hosted')
  const free = (await world.admin('GET', 'dashboard/summary')).body.summary.usage
  assert.deepEqual([free.deliveries, free.max_deliveries], [null, null])
})

test('what the doctor looks for: nothing waits for an allowance that has room', async () => {
  const invariant = INVARIANTS.find(({ check }) => check === 'nothing waits for an allowance that has room')
  const found = () => invariant?.count(database, new Date(world.clock.now()), world.app.deps.plans)
  await aTarget()
  await withLeft(0)
  await send(2)
  advance(120_000)
  assert.equal(await found(), 0)
  await withLeft(1)
  assert.equal(await found(), 2)
  await onPlan('a plan that is gone')
  assert.equal(await found(), 2)
  await releaseWaiting(world.app.deps)
  assert.equal(await found(), 0)
})

test('what waits for the allowance is kept with its event until it was let go, however short its plan keeps events', async () => {
  await aTarget()
  await send(1)
  await onPlan('free')
  await database.run(
    sql`insert into monthly_usage (workspace_id, month, events, deliveries) values (${workspaceId()}, ${month()}::date, 0, 50000)`,
  )
  await send(1)
  const keep = async (): Promise<void> => {
    await runUpkeep(world.app.deps)
  }
  const kept = async (): Promise<readonly number[]> => {
    const { records, deliveries } = await database.one<{ records: number; deliveries: number }>(sql`
      select (select count(*) from deliveries) as deliveries, (select count(*) from records r where exists (select 1 from deliveries d where d.record_id = r.id)) as records`)
    return [records, deliveries]
  }
  assert.deepEqual(await kept(), [2, 2])
  advance(9 * DAY_MS)
  await keep()
  assert.deepEqual(await kept(), [2, 2])
  await onPlan('self_hosted')
  await releaseWaiting(world.app.deps)
  await onPlan('free')
  await keep()
  assert.deepEqual(await kept(), [0, 0], 'then both go: they are older than 7 days')
})
