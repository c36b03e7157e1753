import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from '../../src/platform/db.ts'
import { releaseWaiting } from '../../src/resources/delivery/deliveries/release/index.ts'
import { INVARIANTS } from '../../src/resources/operate/installation/invariants.ts'
import { runUpkeep } from '../../src/workers/upkeep.ts'
import { aPerson } from '../stage/accounts.ts'
import { post } from '../stage/fixtures.ts'
import {
  ALLOWANCE,
  world,
  beside,
  database,
  workspaceId,
  month,
  onPlan,
  withLeft,
  used,
  rows,
  states,
  send,
  auditOf,
  turnMonth,
  advance,
  aTarget,
  onAllowanceStage,
} from '../stage/allowance-stage.ts'

onAllowanceStage()

const DAY_MS = 86_400_000

test('of 200 simultaneous events at two processes with room for 50 deliveries, all are accepted, 50 deliveries do not wait, and none is dropped', async () => {
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

test('the first deliveries of an event take the room that is left, and those whose destination is off count too', async () => {
  await aTarget()
  await aTarget({ enabled: false })
  await aTarget()
  await withLeft(2)
  await send(1)
  assert.deepEqual(await states(), { pending: 1, destination_disabled: 1, allowance_used: 1 })
  assert.equal(await used(), ALLOWANCE)
})

test('an event without a destination uses none of the allowance, and a workspace whose plan has no allowance counts nothing', async () => {
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

test('at the turn of the month the deliveries are released, oldest first and as many as have room, and count in the new month', async () => {
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

test('two processes release many deliveries at the same time, in several pieces, and none counts twice', async () => {
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

test('a plan without an allowance releases all deliveries and counts nothing; a larger plan releases as many as it has room for', async () => {
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

test('a released delivery whose destination is off waits for the destination; deliveries of a suspended workspace and canceled ones are not released', async () => {
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
    'turning its destination on sends nothing that waits for the allowance',
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

/** The ids of the deliveries without their prefix, newest first. */
async function listedIds(): Promise<readonly string[]> {
  return (await world.admin('GET', 'deliveries')).body.deliveries.map(({ id }: { id: string }) =>
    id.slice('dlv_'.length),
  )
}

const mails = async (): Promise<number> =>
  (
    await database.one<{ found: number }>(
      sql`select count(*) as found from mails where kind = 'delivery_allowance_used'`,
    )
  ).found

test('an exhausted allowance is audited, and mailed to owners and admins, once a month', async () => {
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

test('usage reports the released deliveries and the allowance of the plan, and metrics report the waiting ones', async () => {
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

test('the doctor checks that nothing waits for an allowance that has room', async () => {
  const invariant = INVARIANTS.find(({ check }) => check === 'no delivery waits for an allowance that has room')
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

const upkeep = async (): Promise<void> => {
  await runUpkeep(world.app.deps)
}
const counts = async (): Promise<readonly number[]> => {
  const { records, deliveries } = await database.one<{ records: number; deliveries: number }>(sql`
    select (select count(*) from deliveries) as deliveries, (select count(*) from records r where exists (select 1 from deliveries d where d.record_id = r.id)) as records`)
  return [records, deliveries]
}

test('a delivery that waits for the allowance is retained with its event until it is released, however short the plan retains events', async () => {
  await aTarget()
  await send(1)
  await onPlan('free')
  await database.run(
    sql`insert into monthly_usage (workspace_id, month, events, deliveries) values (${workspaceId()}, ${month()}::date, 0, 50000)`,
  )
  await send(1)
  assert.deepEqual(await counts(), [2, 2])
  advance(9 * DAY_MS)
  await upkeep()
  assert.deepEqual(await counts(), [2, 2])
  await onPlan('self_hosted')
  await releaseWaiting(world.app.deps)
  await onPlan('free')
  await upkeep()
  assert.deepEqual(await counts(), [0, 0], 'then both go: they are older than 7 days')
})
