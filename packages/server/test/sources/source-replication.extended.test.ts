import assert from 'node:assert/strict'
import { after, afterEach, before, beforeEach, test } from 'node:test'
import { decodeId } from '@postroad/contract'
import { createStreams, type Streams } from '../../src/pipeline/sources/index.ts'
import { sql } from '../../src/platform/db.ts'
import { aDatabaseRelay, connectionTo, type DatabaseRelay } from '../stage/database-relay.ts'
import { aName, statement } from '../stage/fixtures.ts'
import { aWorld, eventually, type Answer, type World } from '../stage/harness.ts'
import { aLogicalPostgres, type LogicalPostgres } from '../stage/logical-postgres.ts'
import { asked, payloadsIn, setSuspended, sourceDeps } from '../stage/source-stage.ts'

/** Sources that read the replication of a real PostgreSQL. The world has no role `work`, so a test runs the streams of two nodes itself. */
let world: World
let other: World
let shop: LogicalPostgres
let relay: DatabaseRelay
let here: Streams
let there: Streams

before(async () => {
  world = await aWorld({ env: { ROLES: 'web' }, loops: [] })
  other = await aWorld({ beside: world, env: { ROLES: 'web' } })
  shop = await aLogicalPostgres()
  relay = await aDatabaseRelay(shop.target)
})
after(async () => {
  await relay.stop()
  await shop.stop()
  await other.stop()
  await world.stop()
})
beforeEach(() => {
  here = createStreams(sourceDeps(world), 'here')
  there = createStreams(sourceDeps(other), 'there')
})
afterEach(async () => {
  await Promise.all([here.stop(), there.stop()])
  const { sources } = await asked(world, 'GET sources')
  for (const { id } of sources) {
    // oxlint-disable-next-line no-await-in-loop -- one slot after the other
    assert.equal((await asked(world, `DELETE sources/${id}`)).left_behind, null)
  }
  assert.deepEqual(await slots(), [])
})

const run = (text: string): Promise<void> => statement(shop.database, text)

let tables = 0
async function aTable(columns = 'id bigint primary key, total numeric, note text'): Promise<string> {
  tables += 1
  await run(`create table t${tables} (${columns})`)
  return `t${tables}`
}

const settingsFor = (table: string, more: object = {}): object => ({
  kind: 'postgres_replication',
  connection: connectionTo(shop.target, relay),
  tls: { mode: 'off' },
  tables: [`public.${table}`],
  ...more,
})
async function aSource(table: string, more: object = {}, members: object = {}): Promise<Answer['body']> {
  const body = { name: aName('source'), dataset: table, settings: settingsFor(table, more), ...members }
  return (await asked(world, 'POST sources', body)).source
}
const sourceOf = async (id: string): Promise<Answer['body']> => (await asked(world, `GET sources/${id}`)).source
const rowsIn = async (dataset: string): Promise<readonly Answer['body'][]> =>
  (await payloadsIn(world, dataset)).map((text) => JSON.parse(text))
const idsIn = async (dataset: string): Promise<readonly number[]> =>
  (await rowsIn(dataset)).map(({ row, old }) => (row ?? old).id)
const numbers = (from: number, to: number): readonly number[] =>
  Array.from({ length: to - from + 1 }, (_, index) => from + index)
function advance(ms: number): void {
  for (const node of [world, other]) node.clock.advance(ms)
}
async function slots(): Promise<readonly { slot_name: string; confirmed: string }[]> {
  return [
    ...(await shop.database.many<{ slot_name: string; confirmed: string }>(
      sql`select slot_name, confirmed_flush_lsn::text as confirmed from pg_replication_slots`,
    )),
  ]
}

/** Runs the streams of a node until its source reads. */
async function reads(id: string, streams = here): Promise<void> {
  await streams.run()
  const found = await eventually('the source reads or fails', async () => {
    const source = await sourceOf(id)
    return source.position !== null || source.failures > 0 ? source : undefined
  })
  assert.equal(found.failures, 0, JSON.stringify(found.last_error))
  await isActive()
}
async function isActive(): Promise<void> {
  await eventually('the replication is active', async () => {
    const active = await shop.database.many(sql`select 1 from pg_stat_replication where state = 'streaming'`)
    return active.length > 0 ? true : undefined
  })
}
/** Stops the streams, and waits until the database has released the slots: it notices a closed connection a moment later. */
async function released(): Promise<void> {
  await here.stop()
  await eventually('the database has released the slots', async () => {
    const active = await shop.database.many(sql`select 1 from pg_replication_slots where active`)
    return active.length === 0 ? true : undefined
  })
}
async function arrived(table: string, count: number): Promise<readonly Answer['body'][]> {
  return eventually('the events have arrived', async () => {
    const rows = await rowsIn(table)
    return rows.length >= count ? rows : undefined
  })
}
async function failure(id: string): Promise<Answer['body']> {
  return eventually('the source has failed', async () => {
    const { last_error: error, failures } = await sourceOf(id)
    return failures > 0 ? error : undefined
  })
}

test('an insert, an update and a delete become one event each, with every digit and the order of their commits', async () => {
  const table = await aTable(
    'id bigint primary key, total numeric, tags text[], at timestamptz, data jsonb, ok boolean',
  )
  const { id } = await aSource(table)
  await reads(id)
  await run(
    `insert into ${table} values (9007199254740993, 12345678901234567890.10, '{a,"b c"}', '2026-01-01 00:00:00.123456+00', '{"n": 1.00}', true)`,
  )
  await run(`update ${table} set id = 2, ok = null`)
  await run(`delete from ${table}`)
  await arrived(table, 3)
  const texts = await payloadsIn(world, table)
  assert.match(
    texts[0] ?? '',
    /^\{"operation":"insert","schema":"public","table":"t\d+","row":\{"id":9007199254740993,"total":12345678901234567890\.10,"tags":\["a","b c"\],"at":"2026-01-01T00:00:00\.123456\+00:00","data":\{"n": 1\.00\},"ok":true\},"old":null,"unchanged":\[\],"lsn":"[0-9A-F]+\/[0-9A-F]+","index":0,"committed_at":"[^"]+Z"\}$/,
  )
  const [, update, deleted] = await rowsIn(table)
  assert.deepEqual([update.operation, update.row.id, update.row.ok], ['update', 2, null])
  assert.match(texts[1] ?? '', /"old":\{"id":9007199254740993\}/)
  assert.deepEqual([deleted.operation, deleted.row, deleted.old], ['delete', null, { id: 2 }])
})

test('with the replica identity full, old is the whole row; a long value that did not change is named', async () => {
  const table = await aTable('id int primary key, n int, long text')
  const { id } = await aSource(table)
  await reads(id)
  await run(`alter table ${table} alter column long set storage external`)
  await run(`insert into ${table} values (1, 1, repeat('x', 9000))`)
  await run(`update ${table} set n = 2`)
  await run(`alter table ${table} replica identity full`)
  await run(`update ${table} set n = 3`)
  const [, partial, full] = await arrived(table, 3)
  assert.deepEqual([partial.row, partial.unchanged, partial.old], [{ id: 1, n: 2 }, ['long'], null])
  assert.deepEqual([full.row.n, full.row.long.length, full.old.n, full.unchanged], [3, 9_000, 2, []])
})

test('only the operations that were asked for become events, and only rows that meet the conditions', async () => {
  const table = await aTable()
  const { id } = await aSource(
    table,
    { operations: ['insert', 'truncate'] },
    { conditions: [{ path: 'row.note', op: 'not_equals', value: 'x' }] },
  )
  await reads(id)
  await run(`insert into ${table} values (1, 1, 'x'), (2, 2, 'y')`)
  await run(`update ${table} set total = 3`)
  await run(`truncate ${table}`)
  await run(`insert into ${table} values (3, 1, 'y')`)
  const rows = await arrived(table, 3)
  assert.deepEqual(
    rows.map(({ operation, row }) => [operation, row?.id]),
    [
      ['insert', 2],
      ['truncate', undefined],
      ['insert', 3],
    ],
  )
})

test('a transaction is acknowledged after its events are committed: a process that dies between them repeats nothing and loses nothing', async () => {
  const table = await aTable()
  const { id } = await aSource(table)
  await reads(id)
  await here.stop()
  const [before_] = await slots()
  let deaths = 0
  const dies: typeof world.app.acceptAll = (captured, alongside) =>
    world.app.acceptAll(captured, async (tx, outcomes) => {
      await alongside(tx, outcomes)
      if (captured.length === 0) return
      deaths += 1
      throw new Error('The process died.')
    })
  const dying = createStreams({ ...sourceDeps(world), acceptAll: dies }, 'dying')
  await dying.run()
  await isActive()
  await run(`insert into ${table} values (1, 1, 'a')`)
  await eventually('the process has died', async () => (deaths > 0 ? true : undefined))
  await dying.stop()
  assert.deepEqual([await rowsIn(table), await slots()], [[], [before_]], 'neither stored nor acknowledged')
  advance(60_000)
  await there.run()
  await arrived(table, 1)
  // The answer to the next change follows the acknowledgment of this one.
  await run(`insert into ${table} values (2, 1, 'a')`)
  await arrived(table, 2)
  await eventually('the slot is confirmed further', async () =>
    (await slots())[0]?.confirmed === before_?.confirmed ? undefined : true,
  )
  assert.deepEqual(await idsIn(table), [1, 2])
})

test('a process that dies after the commit and before the acknowledgment does not store the events again', async () => {
  const table = await aTable()
  const { id } = await aSource(table)
  await reads(id)
  const [first] = await slots()
  const commits: typeof world.app.acceptAll = async (captured, alongside) => {
    const outcomes = await world.app.acceptAll(captured, alongside)
    if (captured.length > 0) throw new Error('The process died.')
    return outcomes
  }
  await here.stop()
  const dying = createStreams({ ...sourceDeps(world), acceptAll: commits }, 'dying')
  await dying.run()
  await isActive()
  await run(`insert into ${table} values (1, 1, 'a')`)
  await arrived(table, 1)
  await dying.stop()
  assert.deepEqual((await slots())[0]?.confirmed, first?.confirmed, 'PostgreSQL will send it again')
  await run(`insert into ${table} values (2, 1, 'a')`)
  advance(60_000)
  await there.run()
  await arrived(table, 2)
  assert.deepEqual(await idsIn(table), [1, 2])
})

test('a transaction whose commit follows the acknowledged one without a byte between them is not skipped', async () => {
  const table = await aTable()
  const { id } = await aSource(table)
  await reads(id)
  const open = Promise.withResolvers<void>()
  const second = shop.database.transaction(async (tx) => {
    await tx.run(sql`select 1`)
    await tx.run({ strings: [`insert into ${table} values (2, 1, 'late')`], values: [] })
    await open.promise
  })
  await run(`insert into ${table} values (1, 1, 'early')`)
  await arrived(table, 1)
  await here.stop()
  open.resolve()
  await second
  advance(60_000)
  await there.run()
  await arrived(table, 2)
  assert.deepEqual(await idsIn(table), [1, 2])
})

test('a large transaction is stored in batches, and continues within it after a crash', async () => {
  const table = await aTable()
  const { id } = await aSource(table)
  await reads(id)
  await here.stop()
  await run(`insert into ${table} select n, n, 'x' from generate_series(1, 3500) n`)
  let batches = 0
  const dies: typeof world.app.acceptAll = (captured, alongside) => {
    if (captured.length > 0) batches += 1
    if (batches === 3) throw new Error('The process died.')
    return world.app.acceptAll(captured, alongside)
  }
  const dying = createStreams({ ...sourceDeps(world), acceptAll: dies }, 'dying')
  await dying.run()
  await eventually('the third batch has come', async () => (batches === 3 ? true : undefined))
  await dying.stop()
  const { position } = await sourceOf(id)
  assert.equal(position.index, 2_000, 'a position within the transaction')
  assert.equal((await rowsIn(table)).length, 2_000)
  advance(60_000)
  await there.run()
  await arrived(table, 3_500)
  assert.deepEqual(await idsIn(table), numbers(1, 3_500))
  assert.equal((await sourceOf(id)).position.index, null)
})

test('one process reads a slot, and another one takes over when its lease has ended', async () => {
  const table = await aTable()
  const { id } = await aSource(table)
  await reads(id)
  const connections = relay.count()
  await there.run()
  assert.equal(relay.count(), connections, 'the lease is taken')
  // The first process is paused: it renews nothing, and the database ends its connection.
  advance(16_000)
  relay.cut()
  await run(`insert into ${table} values (1, 1, 'a')`)
  await eventually('the other process has taken the source', async () => {
    await there.run()
    advance(1_000)
    return (await rowsIn(table)).length > 0 ? true : undefined
  })
  assert.deepEqual(await idsIn(table), [1])
})

test('while other tables change, the position moves, so that the slot retains no WAL for them', async () => {
  const table = await aTable()
  const { id } = await aSource(table)
  await reads(id)
  const [first] = await slots()
  const { position } = await sourceOf(id)
  await run(`create table other_${table} as select n from generate_series(1, 1000) n`)
  await eventually('the slot is confirmed further', async () => {
    advance(5_000)
    await here.run()
    return (await slots())[0]?.confirmed === first?.confirmed ? undefined : true
  })
  const moved = (await sourceOf(id)).position
  assert.notEqual(moved.lsn, position.lsn)
  await run(`insert into ${table} values (1, 1, 'a')`)
  await arrived(table, 1)
})

test('a pause, and a suspension of the workspace, end the connection; changes in the meantime are filed afterwards', async () => {
  const table = await aTable()
  const { id } = await aSource(table)
  await reads(id)
  for (const [stop, start] of [
    [
      () => asked(world, `PATCH sources/${id}`, { enabled: false }),
      () => asked(world, `PATCH sources/${id}`, { enabled: true }),
    ],
    [() => setSuspended(world, true), () => setSuspended(world, false)],
  ] as const) {
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    await stop()
    // oxlint-disable-next-line no-await-in-loop -- as above
    await eventually('the source has let go of its slot', async () => {
      await here.run()
      const active = await shop.database.many(sql`select 1 from pg_replication_slots where active`)
      return active.length === 0 ? true : undefined
    })
    // oxlint-disable-next-line no-await-in-loop -- as above
    const count = (await rowsIn(table)).length
    // oxlint-disable-next-line no-await-in-loop -- as above
    await run(`insert into ${table} values (${count + 1}, 1, 'a')`)
    // oxlint-disable-next-line no-await-in-loop -- as above
    await start()
    advance(16_000)
    // oxlint-disable-next-line no-await-in-loop -- as above
    await here.run()
    // oxlint-disable-next-line no-await-in-loop -- as above
    await arrived(table, count + 1)
  }
  assert.deepEqual(await idsIn(table), [1, 2])
})

test('a slot that is gone is a failure that names the gap, and a restart begins with the changes from then on', async () => {
  const table = await aTable()
  const { id } = await aSource(table)
  await reads(id)
  await released()
  const slot = `postroad_${(decodeId('source', id) ?? '').replaceAll('-', '')}`
  await run(`select pg_drop_replication_slot('${slot}')`)
  await run(`insert into ${table} values (1, 1, 'lost')`)
  here = createStreams(sourceDeps(world), 'again')
  await here.run()
  const error = await failure(id)
  assert.equal(error.reason, 'slot_lost')
  assert.match(error.error, /changes after [0-9A-F]+\/[0-9A-F]+ are lost here.*restart: true/)
  assert.equal((await asked(world, `PATCH sources/${id}`, { restart: true })).source.position, null)
  await reads(id)
  await run(`insert into ${table} values (2, 1, 'new')`)
  await arrived(table, 1)
  assert.deepEqual(await idsIn(table), [2])
})

test('a slot that another program has read is a failure that names the gap', async () => {
  const table = await aTable()
  const { id } = await aSource(table)
  await reads(id)
  await released()
  await run(`insert into ${table} values (1, 1, 'a')`)
  const [{ slot_name: slot } = { slot_name: '' }] = await slots()
  await run(
    `select count(*) from pg_logical_slot_get_binary_changes('${slot}', null, null, 'proto_version', '1', 'publication_names', '${slot}')`,
  )
  here = createStreams(sourceDeps(world), 'again')
  await here.run()
  assert.equal((await failure(id)).reason, 'slot_moved')
})

test('a publication and a slot that exist are used as they are, and stay when the source is deleted', async () => {
  const table = await aTable()
  await run(`create publication "Mine_${table}" for table ${table} with (publish = 'insert')`)
  await run(`select pg_create_logical_replication_slot('mine_${table}', 'pgoutput')`)
  await run(`insert into ${table} values (1, 1, 'before the source')`)
  const { id } = await aSource(table, { tables: null, publication: `Mine_${table}`, slot: `mine_${table}` })
  await reads(id)
  await arrived(table, 1)
  await released()
  assert.equal((await asked(world, `DELETE sources/${id}`)).left_behind, null)
  assert.deepEqual(
    (await slots()).map(({ slot_name: name }) => name),
    [`mine_${table}`],
  )
  await run(`select pg_drop_replication_slot('mine_${table}')`)
  await run(`drop publication "Mine_${table}"`)
})

test('a source publishes the tables of its changed list', async () => {
  const [one, two] = [await aTable(), await aTable()]
  const { id } = await aSource(one)
  await reads(id)
  const { connection: _connection, ...settings } = settingsFor(one, {
    tables: [one, `public.${two}`],
  }) as { connection: string }
  await asked(world, `PATCH sources/${id}`, { settings })
  await eventually('both tables are published', async () => {
    await here.run()
    const published = await shop.database.many(sql`select tablename from pg_publication_tables`)
    return published.length === 2 ? true : undefined
  })
  await isActive()
  await run(`insert into ${two} values (1, 1, 'a')`)
  const [row] = await arrived(one, 1)
  assert.equal(row.table, two)
})

test('each fault of the database is one sentence with a remedy, in a test of the settings and in the state', async () => {
  const table = await aTable()
  const bare = await aTable('id int, note text')
  await run(`create role reader_${table} login`)
  await run(`grant all on ${table} to reader_${table}`)
  const small = await aLogicalPostgres({ wal_level: 'replica' })
  const beside = await aDatabaseRelay(small.target)
  try {
    const tried = async (of: string, more: object = {}): Promise<readonly [string, string]> => {
      const { ok, error } = await asked(world, 'POST sources/test', { settings: settingsFor(of, more) })
      return ok === true ? ['ok', ''] : [error.reason, error.error]
    }
    const reader = connectionTo(shop.target, relay).replace(/\/\/[^:]+:/, `//reader_${table}:`)
    const cases: readonly (readonly [readonly [string, string], string, RegExp])[] = [
      [await tried(table), 'ok', /^$/],
      [
        await tried(bare),
        'no_replica_identity',
        /refuse every update and delete of the application.*replica identity full/,
      ],
      [await tried(bare, { operations: ['insert'] }), 'ok', /^$/],
      [await tried('nothing'), 'no_table', /public\.nothing does not exist/],
      [await tried(table, { connection: connectionTo(small.target, beside) }), 'wal_level', /Set wal_level = logical/],
      [await tried(table, { connection: reader }), 'access_denied', /REPLICATION/],
      [await tried(table, { tables: null, publication: 'nothing' }), 'no_publication', /create publication/],
      [await tried(table, { slot: 'nothing' }), 'no_slot', /pg_create_logical_replication_slot/],
    ]
    for (const [[reason, sentence], expected, words] of cases) {
      assert.equal(reason, expected, sentence)
      assert.match(sentence, words)
    }
    assert.deepEqual(await slots(), [], 'a test creates nothing')
    const { id } = await aSource(bare)
    await here.run()
    assert.equal((await failure(id)).reason, 'no_replica_identity')
  } finally {
    await beside.stop()
    await small.stop()
  }
})

test('settings that cannot work are refused with a sentence', async () => {
  const table = await aTable()
  const refusals: readonly [object, RegExp][] = [
    [{ tables: null }, /set either tables/],
    [{ publication: 'mine' }, /set either tables/],
    [{ tables: ['a.b.c'] }, /schema\.table/],
    [{ slot: "x'; drop" }, /lower-case letters/],
    [{ connection: 'mysql://a:b@127.0.0.1/shop' }, /not a connection string of this kind/],
  ]
  for (const [more, sentence] of refusals) {
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    const { status, body } = await world.admin('POST', 'sources', {
      name: aName('refused'),
      dataset: 'd',
      settings: settingsFor(table, more),
    })
    assert.equal(status, 400, JSON.stringify(more))
    assert.match(body.error, sentence)
  }
  const { id } = await aSource(table, {}, { enabled: false })
  const { status, body } = await world.admin('PATCH', `sources/${id}`, {
    settings: settingsFor(table, { slot: 'mine' }),
  })
  assert.deepEqual([status, /a source stores the position of one slot/.test(body.error)], [400, true])
})
