import assert from 'node:assert/strict'
import { after, afterEach, before, test } from 'node:test'
import { decodeId } from '@postroad/contract'
import type { Db } from '../../src/platform/db.ts'
import { openDatabase, sql, type Database } from '../../src/platform/db.ts'
import { anIngestKey, post, statement } from '../stage/fixtures.ts'
import { aWorld, eventually, type World } from '../stage/harness.ts'
import { sse, webSocket, type Opening, type StreamClient } from '../stage/stream-client.ts'

/**
 * Ids are made before the commit, and commits overlap: a record that is committed late has an id among those that were
 * shown long ago.
 */
let world: World
let database: Database
let key: string
const open: StreamClient[] = []

before(async () => {
  world = await aWorld({ loops: [] })
  database = openDatabase({
    target: world.storage.target,
    connectionsMax: 8,
    applicationName: 'test',
    statementTimeoutMs: 60_000,
  })
  key = (await anIngestKey(world)).key
})
after(async () => {
  await database.close()
  await world.stop()
})
afterEach(() => {
  for (const client of open.splice(0)) client.close()
})

async function tail(query = '', opening: Opening = {}, speak = sse): Promise<StreamClient> {
  const client = await speak(`${world.baseUrl}/v1/stream?key=${key}${query}`, opening)
  open.push(client)
  return client
}

const at = () => ({
  workspace: decodeId('workspace', world.installed.workspace.id) ?? '',
  project: decodeId('project', world.installed.project.id) ?? '',
})

/** The rows that the group commit of some process writes. */
async function insertRecord(db: Db, text: string, id = world.app.deps.uuid()): Promise<string> {
  const { workspace, project } = at()
  const now = new Date(world.clock.now())
  await db.run(sql`
    insert into submissions (workspace_id, project_id, id, received_at, headers, body, body_size, decision, record_ids)
    values (${workspace}, ${project}, ${id}, ${now}, '{}', ${text}, ${text.length}, '{}', ${[id]}::uuid[])
  `)
  await db.run(sql`
    insert into records (workspace_id, project_id, id, submission_id, dataset, received_at, hops)
    values (${workspace}, ${project}, ${id}, ${id}, 'events', ${now}, 0)
  `)
  return id
}

/** A transaction that writes a record and commits when the test lets it. */
async function aSlowCommit(text: string, id?: string): Promise<{ commit(): Promise<void> }> {
  const written = Promise.withResolvers<void>()
  const reported = Promise.withResolvers<void>()
  const done = database.transaction(async (tx) => {
    await insertRecord(tx, text, id)
    written.resolve()
    await reported.promise
  })
  await written.promise
  return {
    commit: async () => {
      reported.resolve()
      await done
    },
  }
}

const send = (n: number) => post(`${world.baseUrl}/v1/ingest/${key}/events`, String(n))
const seen = (client: StreamClient): unknown[] => client.events.map((event) => event.data.data)

test('a record that commits after younger ones is shown once, to a connected client and to a client that resumes in between', async () => {
  const client = await tail()
  const slow = await aSlowCommit('1')
  await send(2)
  const { id: cursor } = await client.until(1)
  const between = await tail(`&after=${cursor}`)
  await slow.commit()
  await send(3)
  await client.until(3)
  await between.until(2)
  assert.deepEqual(seen(client), [2, 1, 3])
  assert.deepEqual(seen(between), [1, 3])
  const late = await tail(`&after=${cursor}`)
  await late.until(2)
  assert.deepEqual(seen(late), [1, 3])
})

test('a commit that hangs for a minute is shown when it ends, however many were shown meanwhile', async () => {
  const client = await tail()
  const slow = await aSlowCommit('1')
  for (let n = 2; n <= 12; n += 1) {
    await world.quiet()
    world.clock.advance(5_000)
    await send(n)
    await client.until(n - 1)
  }
  const { id: cursor } = client.events[5] ?? {}
  await slow.commit()
  await world.quiet()
  world.clock.advance(1_000)
  await client.until(12)
  const resumed = await tail(`&after=${cursor}`)
  await resumed.until(6)
  assert.deepEqual(new Set(seen(resumed)), new Set([1, 8, 9, 10, 11, 12]))
  assert.equal(resumed.events.length, 6)
})

test('with many overlapping commits every record is shown exactly once, across any number of lost connections', async () => {
  let client = await tail()
  const shown: number[] = []
  let cursor: string | undefined
  const total = 400
  let written = 0
  const writers = Array.from({ length: 6 }, async () => {
    while (written < total) {
      written += 1
      const n = written
      // The id is made first, and the commit comes after a separate delay.
      const id = world.app.deps.uuid()
      await database.transaction(async (tx) => {
        await insertRecord(tx, String(n), id)
        await statement(tx, `select pg_sleep(${(n * 7919) % 13} / 1000.0)`)
      })
    }
  })
  const all = Promise.all(writers)
  const take = (): void => {
    for (const event of client.events) shown.push(event.data.data)
    cursor = client.events.at(-1)?.id ?? cursor
    client.close()
  }
  while (shown.length + client.events.length < total) {
    await eventually('20 more records, or the last ones, have arrived', async () => {
      world.clock.advance(50)
      return client.events.length >= 20 || shown.length + client.events.length >= total ? true : undefined
    })
    take()
    client = await tail(`&after=${cursor}`)
  }
  take()
  await all
  assert.equal(shown.length, total)
  assert.deepEqual(
    shown.toSorted((a, b) => a - b),
    Array.from({ length: total }, (_none, index) => index + 1),
  )
})

test('a cursor of another database, or of this one before a crash, resumes by time: nothing is lost', async () => {
  world.clock.advance(3_600_000)
  const first = await tail()
  await send(1)
  const { id } = await first.until(1)
  await send(2)
  const foreign = await tail(`&after=${id?.replace(/^\d+-\d+/, '7000000000000000000-3')}`)
  await foreign.until(2)
  assert.deepEqual(seen(foreign), [1, 2])
  // The effect of a PostgreSQL crash on this table.
  await statement(database, 'truncate stream_generation')
  const crashed = await tail(`&after=${id}`)
  await crashed.until(2)
  assert.deepEqual(seen(crashed), [1, 2])
  world.clock.advance(1_000)
  await send(3)
  await first.until(5)
  assert.deepEqual(seen(first), [1, 2, 1, 2, 3])
})

test('a record that another node stores is shown within a second without a notification', async () => {
  const client = await tail()
  await insertRecord(database, '"elsewhere"')
  world.clock.advance(1_000)
  assert.equal((await client.until(1)).data.data, 'elsewhere')
})

test('a client that was away for longer than records are retained gets the start and the end of the period that it missed', async () => {
  const first = await tail()
  const cursor = String(first.headers['stream-cursor'])
  const began = world.clock.now()
  world.clock.advance(3 * 86_400_000)
  const oldest = new Date(began + 2 * 86_400_000).toISOString().slice(0, 10)
  const days = await database.many<{ name: string }>(sql`
    select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
     where i.inhparent = 'records'::regclass and right(c.relname, 8) < ${oldest.replaceAll('-', '')} and c.relname ~ '_[0-9]{8}$'`)
  for (const { name } of days) await statement(database, `drop table ${name}`)
  await statement(
    database,
    `create table if not exists records_${oldest.replaceAll('-', '')} partition of records for values from ('00000000-0000-0000-0000-000000000001') to ('00000000-0000-0000-0000-000000000002')`,
  )
  await send(1)
  const client = await tail(`&after=${cursor}`)
  await client.until(2)
  assert.deepEqual(
    [client.events[0]?.type, client.events[0]?.data.to, client.events[0]?.data.missed],
    ['gap', `${oldest}T00:00:00.000Z`, null],
  )
  assert.ok(Math.abs(Date.parse(client.events[0]?.data.from) - began) < 120_000)
  assert.equal(client.events[1]?.data.data, 1)
  await assertReported({ began, cursor, gap: client.events[0]?.data })
  const kept = await tail(`&since=${oldest}`)
  assert.equal((await kept.until(1)).type, 'record')
})

async function assertReported({
  began,
  cursor,
  gap: reported,
}: {
  began: number
  cursor: string
  gap: object
}): Promise<void> {
  // A client that resumes by time gets that time, and a WebSocket gets the same.
  const from = new Date(began).toISOString()
  for (const speak of [sse, webSocket]) {
    for (const query of [`&after=${cursor}`, `&since=${from}`]) {
      const again = await tail(query, {}, speak)
      await again.until(2)
      const [gap, ...rest] = again.events
      const expected = query.startsWith('&since') ? { ...reported, from } : reported
      assert.deepEqual([gap?.type, gap?.data, rest.map((event) => event.data.data)], ['gap', expected, [1]])
    }
  }
}

/** More than the system buffers for a connection. */
const aLot = (): Promise<string> => insertRecord(database, `"${'x'.repeat(16_000_000)}"`)

test('a client that is cut because it is too slow gets the cause when it reads again', async () => {
  for (const [speak, code] of [
    [sse, 0],
    [webSocket, 1013],
  ] as const) {
    const [slow, good] = [await tail('', { paused: true }, speak), await tail('', {}, speak)]
    await aLot()
    await world.quiet()
    world.clock.advance(1_000)
    await good.until(1)
    // The slow client gets no further event.
    await world.quiet()
    await send(2)
    await good.until(2)
    slow.resume()
    await slow.until(2)
    assert.deepEqual(
      slow.events.map(({ type }) => type),
      ['record', 'closing'],
    )
    assert.deepEqual([slow.events[1]?.data, await slow.ended], [{ reason: 'slow' }, code])
    assert.deepEqual(
      good.events.map(({ type }) => type),
      ['record', 'record'],
    )
    good.close()
  }
})

test('a client that catches up can pause for a minute, and is cut after that', async () => {
  const first = await tail()
  const cursor = String(first.headers['stream-cursor'])
  await aLot()
  await send(2)
  // Both clients have read the start of the output, so the server has written to them.
  const opening = { paused: 'event: record' }
  const [late, stalled] = [await tail(`&after=${cursor}`, opening), await tail(`&after=${cursor}`, opening)]
  for (const client of [late, stalled])
    await eventually('the client has read the start of the output', async () =>
      client.text().includes('event: record') ? true : undefined,
    )
  world.clock.advance(59_999)
  late.resume()
  await late.until(2)
  world.clock.advance(1)
  stalled.resume()
  await stalled.until(2)
  assert.deepEqual(
    late.events.map(({ type }) => type),
    ['record', 'record'],
  )
  assert.deepEqual(
    stalled.events.map(({ type, data }) => [type, data.reason]),
    [
      ['record', undefined],
      ['closing', 'slow'],
    ],
  )
  await stalled.ended
})

test('a client that was away for longer than its own plan retains records gets a gap, also when other plans retain them longer', async () => {
  const first = await tail()
  const cursor = String(first.headers['stream-cursor'])
  const began = world.clock.now()
  world.clock.advance(10 * 86_400_000)
  const reportedBy = async (plan: string): Promise<readonly unknown[]> => {
    await statement(database, `update workspaces set plan = '${plan}'`)
    await send(1)
    const client = await tail(`&after=${cursor}`)
    await client.until(1)
    return [client.events[0]?.type, client.events[0]?.data.to]
  }
  const firstDay = new Date(began + 3 * 86_400_000).toISOString().slice(0, 10)
  assert.deepEqual(await reportedBy('self_hosted'), ['record', undefined])
  assert.deepEqual(await reportedBy('free'), ['gap', `${firstDay}T00:00:00.000Z`])
  await statement(database, "update workspaces set plan = 'self_hosted'")
})

test('a server that stops gives every client the cause', async () => {
  const own = await aWorld({ beside: world })
  own.clock.set(world.clock.now())
  const client = await sse(`${own.baseUrl}/v1/stream?key=${key}`)
  const socket = await webSocket(`${own.baseUrl}/v1/stream?key=${key}`)
  const stopped = own.stop()
  assert.deepEqual([(await client.until(1)).type, client.events[0]?.data], ['closing', { reason: 'shutdown' }])
  await stopped
  await client.ended
  assert.deepEqual([await socket.ended, socket.events[0]?.data], [1001, { reason: 'shutdown' }])
})
