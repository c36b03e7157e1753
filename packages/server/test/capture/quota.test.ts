import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'
import { decodeId } from '@postroad/contract'
import { monthOf } from '../../src/domain/workspace/month.ts'
import { sql, type Database } from '../../src/platform/db.ts'
import { addUsage, lockUsage } from '../../src/resources/workspace/usage/queries.ts'
import { aWebhook, behind, post } from '../stage/fixtures.ts'
import { atGate, tableGate } from '../stage/gates.ts'
import { aWorld, type Answer, type World } from '../stage/harness.ts'
import { onWorldStage } from '../stage/world-stage.ts'

/** The plan team: a quota, and a burst limit that no test here reaches. */
const QUOTA = 500_000

let world: World
let database: Database

onWorldStage(
  (made) => {
    ;({ world, database } = made)
  },
  { env: { LOG_LEVEL: 'silent' }, loops: [] },
)

const workspaceId = (): string => decodeId('workspace', world.installed.workspace.id) ?? ''

async function used(): Promise<number | undefined> {
  const row = await database.maybe<{ events: number }>(
    sql`select events from monthly_usage where workspace_id = ${workspaceId()} and month = ${monthOf(world.clock.now())}::date`,
  )
  return row?.events
}

/** Sets the plan on every node. */
async function onPlan(plan: string, nodes: readonly World[] = [world]): Promise<void> {
  await database.run(sql`update workspaces set plan = ${plan} where id = ${workspaceId()}`)
  for (const { app, installed } of nodes) app.deps.configChanged(decodeId('project', installed.project.id) ?? '')
}

/** Sets the number of events that are left of the month. */
async function withLeft(left: number, nodes: readonly World[] = [world]): Promise<void> {
  await database.run(sql`
    insert into monthly_usage (workspace_id, month, events) values (${workspaceId()}, ${monthOf(world.clock.now())}::date, ${QUOTA - left})
    on conflict (workspace_id, month) do update set events = excluded.events
  `)
  await onPlan('team', nodes)
}

async function stored(): Promise<number> {
  return (
    await database.one<{ stored: number }>({ strings: ['select count(*) as stored from submissions'], values: [] })
  ).stored
}

const send = (key: string): Promise<Answer> => post(world.endpoint, '{}', { headers: { 'idempotency-key': key } })

const count = (answers: readonly Answer[], status: number): number =>
  answers.filter((answer) => answer.status === status).length

describe('the monthly quota of events', () => {
  test('beyond the quota an event gets 429 quota_exceeded with upgrade_url and, in body and header, the seconds until the next month; nothing is stored', async () => {
    await withLeft(0)
    const had = await stored()
    const { status, headers, body } = await post(world.endpoint, '{}')
    assert.deepEqual([status, body.reason], [429, 'quota_exceeded'])
    const seconds = (Date.UTC(2026, 1, 1) - world.clock.now()) / 1_000
    assert.deepEqual([body.retry_after, headers.get('retry-after')], [seconds, String(seconds)])
    assert.equal(new URL(body.upgrade_url).origin, world.baseUrl)
    assert.equal(await stored(), had)
    assert.equal(await used(), QUOTA)
  })

  test('of 200 simultaneous events at three processes with 50 left, exactly 50 are accepted and counted', async () => {
    const nodes = [world, await aWorld({ beside: world }), await aWorld({ beside: world })]
    try {
      for (let round = 0; round < 3; round += 1) {
        await withLeft(50, nodes)
        const had = await stored()
        const sent = Array.from({ length: 200 }, (_none, n) =>
          post(world.endpoint.replace(world.baseUrl, nodes[n % 3]?.baseUrl ?? ''), '{}'),
        )
        const answers = await Promise.all(sent)
        assert.deepEqual([count(answers, 201), count(answers, 429)], [50, 150])
        assert.deepEqual([(await stored()) - had, await used()], [50, QUOTA])
      }
    } finally {
      for (const node of nodes.slice(1)) await node.stop()
    }
  })

  test('one accepted request is one event, no matter how many records it creates', async () => {
    await withLeft(10)
    const { public_url } = await aWebhook(world, { criteria: [{ path: 'a', equals: 1 }] })
    for (const body of ['{}', '{"a":1}']) assert.equal((await post(public_url, body)).status, 201)
    assert.equal(await used(), QUOTA - 8)
  })

  test('refusals and repeats never count', async () => {
    await withLeft(10)
    const { id, public_url } = await aWebhook(world)
    const headers = { 'idempotency-key': randomUUID() }
    assert.equal((await post(public_url, '{}', { headers })).status, 201)
    assert.equal((await post(public_url, '{}', { headers })).status, 200)
    assert.equal((await post(public_url, '{"other":1}', { headers })).status, 422)
    assert.equal((await post(public_url, '{')).status, 400)
    await world.admin('PATCH', `webhooks/${id}`, { verification: { scheme: 'hmac', secret: 'k' } })
    for (const forged of [{}, { 'x-signature': 'nonsense' }])
      assert.equal((await post(public_url, '{}', { headers: forged })).status, 401)
    await world.admin('PATCH', `webhooks/${id}`, { enabled: false })
    assert.equal((await post(public_url, '{}')).status, 503)
    assert.equal(await used(), QUOTA - 9)
  })

  test('an event that could not be stored does not count', async () => {
    await withLeft(10)
    await atGate(database, tableGate('submissions'), async (gate) => {
      const refused = post(world.endpoint, '{}')
      await gate.cancel()
      assert.equal((await refused).status, 503)
    })
    assert.equal(await used(), QUOTA - 10)
  })

  test('a repeat of an accepted event gets 200 when nothing is left, and the key of a refused event is free when the quota has room again', async () => {
    await withLeft(1)
    assert.deepEqual([(await send('first')).status, (await send('second')).status], [201, 429])
    assert.deepEqual([(await send('first')).status, (await send('second')).status], [200, 429])
    await withLeft(1)
    assert.deepEqual([(await send('second')).status, (await send('second')).status], [201, 200])
  })

  test('repeats in a batch take no place in the quota: as many new events are accepted as are left', async () => {
    await withLeft(20)
    const keys = Array.from({ length: 10 }, () => randomUUID())
    await Promise.all(keys.map(send))
    const answers = await Promise.all([
      ...keys.map(send),
      ...Array.from({ length: 15 }, () => send(randomUUID())),
      ...keys.map(send),
      ...Array.from({ length: 5 }, () => post(world.endpoint, '{}')),
    ])
    assert.deepEqual([count(answers, 200), count(answers, 201), count(answers, 429)], [20, 10, 10])
    assert.equal(await used(), QUOTA)
  })

  test('a larger plan takes effect immediately', async () => {
    await withLeft(0)
    assert.equal((await post(world.endpoint, '{}')).status, 429)
    await onPlan('business')
    assert.equal((await post(world.endpoint, '{}')).status, 201)
    assert.equal(await used(), QUOTA + 1)
  })

  test('the count starts again at the turn of the month in UTC', async () => {
    await withLeft(0)
    const was = world.clock.now()
    try {
      world.clock.set(Date.UTC(2026, 1, 1) - 400)
      const last = await post(world.endpoint, '{}')
      assert.deepEqual([last.status, last.headers.get('retry-after')], [429, '1'])
      world.clock.set(Date.UTC(2026, 1, 1))
      assert.equal((await post(world.endpoint, '{}')).status, 201)
      assert.equal(await used(), 1)
    } finally {
      world.clock.set(was)
    }
  })

  test('events of a workspace without a quota are not counted', async () => {
    const own = await aWorld({ loops: [] })
    const db = behind(own)
    try {
      assert.equal((await post(own.endpoint, '{}')).status, 201)
      assert.equal(
        (await db.one<{ found: number }>({ strings: ['select count(*) as found from monthly_usage'], values: [] }))
          .found,
        0,
      )
    } finally {
      await db.close()
      await own.stop()
    }
  })
})

test('batches that count for several workspaces, in any order, never deadlock', async () => {
  const month = '2026-03-01'
  const workspaces = Array.from({ length: 8 }, () => randomUUID())
  const { database: pool } = world.app.deps
  const turns = Array.from({ length: 60 }, async (_none, n) => {
    const months = [...workspaces.slice(n % 8), ...workspaces.slice(0, n % 8)].map((id) => ({ workspaceId: id, month }))
    const named = n % 2 === 0 ? months : months.toReversed()
    await pool.transaction(async (tx) => {
      await lockUsage(tx, named)
      await addUsage(
        tx,
        named.map((one) => ({ ...one, events: 1, deliveries: 0 })),
      )
    })
  })
  await Promise.all(turns)
  const rows = await database.many<{ events: number }>(
    sql`select events from monthly_usage where month = ${month}::date`,
  )
  assert.deepEqual(
    rows.map(({ events }) => events),
    Array<number>(8).fill(60),
  )
})
