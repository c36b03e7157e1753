import assert from 'node:assert/strict'
import { after, before, beforeEach } from 'node:test'
import { decodeId } from '@postroad/contract'
import { monthOf, nextMonthAt } from '../../src/domain/workspace/month.ts'
import { sql, type Database } from '../../src/platform/db.ts'
import { aDestination, behind, post } from './fixtures.ts'
import { aWorld, type Answer, type World } from './harness.ts'

/** The allowance of the plan team. Its quota of events is far beyond the events of these tests. */
export const ALLOWANCE = 2_500_000

/** Two nodes. No loop sends or releases anything here: the tests do that, and read the rows. */
export let world: World
export let beside: World
export let database: Database

export const workspaceId = (): string => decodeId('workspace', world.installed.workspace.id) ?? ''
export const month = (): string => monthOf(world.clock.now())

export async function onPlan(plan: string): Promise<void> {
  await database.run(sql`update workspaces set plan = ${plan} where id = ${workspaceId()}`)
  for (const { app, installed } of [world, beside])
    app.deps.configChanged(decodeId('project', installed.project.id) ?? '')
}

/** Sets the number of deliveries that are left of this month. */
export async function withLeft(left: number): Promise<void> {
  await database.run(sql`
    insert into monthly_usage (workspace_id, month, events, deliveries) values (${workspaceId()}, ${month()}::date, 0, ${ALLOWANCE - left})
    on conflict (workspace_id, month) do update set deliveries = excluded.deliveries
  `)
  await onPlan('team')
}

export async function used(): Promise<number> {
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

export const rows = (): Promise<readonly Row[]> =>
  database.many<Row>(
    sql`select id, state, pause_reason, destination_id, next_attempt_at is not null as due from deliveries order by id`,
  )

/** Counts the deliveries in each state, with the reason of the paused ones. */
export async function states(): Promise<Readonly<Record<string, number>>> {
  const counts: Record<string, number> = {}
  for (const { state, pause_reason } of await rows())
    counts[pause_reason ?? state] = (counts[pause_reason ?? state] ?? 0) + 1
  return counts
}

export async function send(count: number, at: World = world): Promise<void> {
  for (let n = 0; n < count; n += 1) assert.equal((await post(at.endpoint, `{"n":${n}}`)).status, 201)
}

export const auditOf = async (action: string): Promise<Answer['body'][]> =>
  (await world.admin('GET', `audit?action=${action}`)).body.audit

/** Sets the clocks of both nodes. */
function setClock(ms: number): void {
  for (const { clock } of [world, beside]) clock.set(ms)
}

export const turnMonth = (): void => setClock(nextMonthAt(world.clock.now()))
export const advance = (ms: number): void => setClock(world.clock.now() + ms)

export const aTarget = (members: object = {}): Promise<{ readonly destination: Answer['body'] }> =>
  aDestination(world, { url: 'https://example.com/', ...members })

/** A file calls this once, before its tests. */
export function onAllowanceStage(): void {
  before(async () => {
    world = await aWorld({ env: { ROLES: 'web', LOG_LEVEL: 'silent' }, loops: [] })
    beside = await aWorld({ env: { ROLES: 'web', LOG_LEVEL: 'silent' }, beside: world })
    database = behind(world)
  })
  after(async () => {
    await database.close()
    await beside.stop()
    await world.stop()
  })
  beforeEach(async () => {
    for (const table of ['deliveries', 'delivery_attempts', 'replays', 'monthly_usage'])
      await database.run({ strings: [`delete from ${table}`], values: [] })
    for (const { id } of (await world.admin('GET', 'destinations')).body.destinations)
      await world.admin('DELETE', `destinations/${id}`)
    await onPlan('self_hosted')
  })
}
