import assert from 'node:assert/strict'
import { after, afterEach, before, test } from 'node:test'
import { createStreams, type Streams } from '../../src/pipeline/sources/index.ts'
import { sql } from '../../src/platform/db.ts'
import { aDatabaseRelay, connectionTo, type DatabaseRelay } from '../stage/database-relay.ts'
import { aName, statement } from '../stage/fixtures.ts'
import { aWorld, eventually, type Answer, type World } from '../stage/harness.ts'
import { aLogicalPostgres, type LogicalPostgres } from '../stage/logical-postgres.ts'
import { asked, sourceDeps } from '../stage/source-stage.ts'

/** Replication sources that copy the rows of a real PostgreSQL first. The world has no role `work`: a test runs the streams. */
let world: World
let shop: LogicalPostgres
let relay: DatabaseRelay
const running = new Set<Streams>()

before(async () => {
  world = await aWorld({ env: { ROLES: 'web' }, loops: [] })
  shop = await aLogicalPostgres()
  relay = await aDatabaseRelay(shop.target)
})
after(async () => {
  await relay.stop()
  await shop.stop()
  await world.stop()
})
afterEach(async () => {
  for (const streams of running) {
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    await streams.stop()
    running.delete(streams)
  }
  for (const { id } of (await asked(world, 'GET sources')).sources) {
    // oxlint-disable-next-line no-await-in-loop -- one slot after the other
    await asked(world, `DELETE sources/${id}`)
  }
  const left = await eventually('the temporary slots have ended', async () => {
    const slots = await shop.database.many(sql`select slot_name from pg_replication_slots where temporary`)
    return slots.length === 0 ? slots : undefined
  })
  assert.deepEqual([...left], [], 'the temporary slot of a copy ends with its connection')
})

const run = (text: string): Promise<void> => statement(shop.database, text)
let tables = 0
async function aTable(columns = 'id bigint primary key, note text'): Promise<string> {
  tables += 1
  // Padded, so that the order of names is that of numbers.
  const name = `s${String(tables).padStart(3, '0')}`
  await run(`create table ${name} (${columns})`)
  return name
}
const settingsFor = (names: readonly string[], more: object = {}): object => ({
  kind: 'postgres_replication',
  connection: connectionTo(shop.target, relay),
  tls: { mode: 'off' },
  tables: names.map((name) => `public.${name}`),
  snapshot: true,
  ...more,
})
async function aSource(names: readonly string[], more: object = {}): Promise<Answer['body']> {
  const body = { name: aName('source'), dataset: names[0], settings: settingsFor(names, more) }
  return (await asked(world, 'POST sources', body)).source
}
const sourceOf = async (id: string): Promise<Answer['body']> => (await asked(world, `GET sources/${id}`)).source
/** One look-up for each record: a join of thousands of rows without statistics can take minutes. */
async function textsIn(dataset: string): Promise<readonly string[]> {
  const rows = await world.app.deps.database.many<{ data: string }>(sql`
    select coalesce(
             r.data,
             (select s.body
                from submissions s
               where s.workspace_id = r.workspace_id
                 and s.project_id = r.project_id
                 and s.id = r.submission_id)
           ) as data
      from records r
     where r.dataset = ${dataset}
     order by r.id
  `)
  return rows.map(({ data }) => data)
}
const eventsIn = async (dataset: string): Promise<readonly Answer['body'][]> =>
  (await textsIn(dataset)).map((text) => JSON.parse(text))

type AcceptAll = World['app']['acceptAll']
async function read(acceptAll: AcceptAll = world.app.acceptAll): Promise<Streams> {
  world.clock.advance(60_000)
  const streams = createStreams({ ...sourceDeps(world), acceptAll }, aName('owner'))
  running.add(streams)
  await streams.run()
  return streams
}
/** Reads until the batch number `batch` has come; the process dies before its commit, or after it. */
async function dies({ batch, at }: { batch: number; at: 'before' | 'after' }): Promise<void> {
  let batches = 0
  const died = Promise.withResolvers<void>()
  const streams = await read(async (captured, alongside) => {
    if (captured.length > 0) batches += 1
    if (batches > batch) throw new Error('The process is dead.')
    if (batches < batch || captured.length === 0) return world.app.acceptAll(captured, alongside)
    if (at === 'after') await world.app.acceptAll(captured, alongside)
    died.resolve()
    batches += 1
    throw new Error('The process died.')
  })
  await died.promise
  await streams.stop()
  running.delete(streams)
}
async function completed(id: string): Promise<Answer['body']> {
  return eventually('the copy is complete', async () => {
    const source = await sourceOf(id)
    assert.equal(source.failures, 0, JSON.stringify(source.last_error))
    return source.snapshot?.state === 'complete' ? source : undefined
  })
}
/** The last change of a test: when it has arrived, so have all others. */
async function settled(table: string): Promise<readonly Answer['body'][]> {
  await run(`insert into ${table} (id, note) values (999999, 'last')`)
  return eventually('the last change has arrived', async () => {
    const events = await eventsIn(table)
    return events.some(({ operation, row }) => operation === 'insert' && row.note === 'last') ? events : undefined
  })
}

/** The rows of a table after all its events, in their order. A row that enters twice is an error. */
function replayed(events: readonly Answer['body'][], table: string): ReadonlyMap<unknown, unknown> {
  const rows = new Map<unknown, unknown>()
  for (const { operation, row, old, table: of } of events) {
    if (of !== table) continue
    if (operation === 'truncate') rows.clear()
    if (operation === 'snapshot' || operation === 'insert') {
      assert.ok(!rows.has(row.id), `${operation} of ${JSON.stringify(row)}, which is there already`)
      rows.set(row.id, row)
    }
    if (operation === 'delete' || (operation === 'update' && old !== null)) rows.delete(old.id)
    if (operation === 'update') rows.set(row.id, row)
  }
  return rows
}
async function rowsOf(table: string): Promise<ReadonlyMap<unknown, unknown>> {
  const rows = await shop.database.many<{ row: string }>({
    strings: [`select row_to_json(t)::text as row from ${table} t`],
    values: [],
  })
  return new Map(rows.map(({ row }) => JSON.parse(row)).map((row) => [row.id, row]))
}
const sorted = (rows: ReadonlyMap<unknown, unknown>): unknown =>
  [...rows].map(([, row]) => JSON.stringify(row)).toSorted()

async function isWhole(table: string, events: readonly Answer['body'][]): Promise<void> {
  assert.deepEqual(sorted(replayed(events, table)), sorted(await rowsOf(table)))
}

test('the rows that exist become one event each, before the changes, with every digit', async () => {
  const [one, two] = [await aTable('id bigint primary key, total numeric, at timestamptz, note text'), await aTable()]
  await run(`insert into ${one} values (9007199254740993, 1.10, '2026-01-01 00:00:00+00', null), (2, 2, null, 'x')`)
  await run(`insert into ${two} select n, 'x' from generate_series(1, 2500) n`)
  const { id, snapshot } = await aSource([two, one])
  assert.deepEqual(snapshot, { state: 'waiting', rows: 0, table: null, tables_done: 0, tables: null })
  await read()
  const source = await completed(id)
  assert.deepEqual(source.snapshot, { state: 'complete', rows: 2_502, table: null, tables_done: 2, tables: 2 })
  assert.equal(source.events, 2_502)
  await run(`update ${one} set note = 'changed' where id = 2`)
  await run(`delete from ${two} where id > 2`)
  await run(`insert into ${one} (id, note) values (3, 'last')`)
  const texts = await eventually('every change has arrived', async () => {
    const found = await textsIn(two)
    return found.length === 2_502 + 2_500 ? found : undefined
  })
  assert.match(
    texts[1] ?? '',
    new RegExp(
      `^\\{"operation":"snapshot","schema":"public","table":"${one}","row":\\{"id":9007199254740993,"total":1\\.10,"at":"2026-01-01T00:00:00\\+00:00","note":null\\},"old":null,"unchanged":\\[\\],"lsn":"[0-9A-F]+/[0-9A-F]+","index":1,"committed_at":"[^"]+Z"\\}$`,
    ),
  )
  const events = texts.map((text) => JSON.parse(text))
  assert.deepEqual(
    events.slice(0, 2_502).filter(({ operation }) => operation !== 'snapshot'),
    [],
  )
  const places = events.map(({ lsn, index }) => `${lsn} ${index}`)
  assert.equal(new Set(places).size, places.length, 'lsn and index name one event')
  await isWhole(two, events)
})

test('changes while rows are copied are neither lost nor repeated', async () => {
  const table = await aTable()
  await run(`insert into ${table} select n, 'old' from generate_series(10, 30000, 10) n`)
  const { id } = await aSource([table])
  let page = 0
  await read(async (captured, alongside) => {
    page += 1
    // Changes before and after the current place of the copy.
    if (page > 1 && page < 5)
      await run(`
        insert into ${table} values (${page}, 'new'), (${29_001 + page}, 'new');
        update ${table} set note = 'changed' where id in (10, ${20_000 + page * 10});
        update ${table} set id = id + 40000 where id in (20, 15000 + ${page * 10});
        delete from ${table} where id in (${page * 100}, ${page * 100 + 18_000})`)
    return world.app.acceptAll(captured, alongside)
  })
  await completed(id)
  const events = await settled(table)
  assert.equal(events.filter(({ operation }) => operation === 'snapshot').length, 3_000)
  await isWhole(table, events)
})

for (const at of ['before', 'after'] as const)
  test(`a process that dies ${at} the commit of a page repeats no row and loses no change`, async () => {
    const [table, other] = [await aTable(), await aTable()]
    await run(`insert into ${table} select n, 'old' from generate_series(10, 30000, 10) n`)
    await run(`insert into ${other} values (1, 'other')`)
    const { id } = await aSource([table, other])
    const change = (n: number): Promise<void> =>
      run(`
        insert into ${table} values (${n}, 'new'), (${29_001 + n}, 'new');
        update ${table} set note = 'changed ${n}' where id in (10, 30, 29000);
        update ${table} set id = 40000 + id where id in (${n * 100}, ${n * 100 + 25_000});
        update ${table} set id = ${n * 10 + 5} where id = ${n * 10 + 28_000};
        delete from ${table} where id in (${n * 100 + 10}, ${n * 100 + 25_010});
        update ${other} set note = 'changed ${n}'`)
    await dies({ batch: 2, at })
    const { snapshot } = await sourceOf(id)
    const copied = at === 'before' ? 1_000 : 2_000
    assert.deepEqual(snapshot, { state: 'copying', rows: copied, table: `public.${table}`, tables_done: 0, tables: 2 })
    await change(1)
    await dies({ batch: 1, at })
    await change(2)
    // A process that dies before it copies a row adds no part.
    await dies({ batch: 1, at: 'before' })
    await change(3)
    await read()
    await completed(id)
    await change(4)
    const events = await settled(table)
    await isWhole(table, events)
    await isWhole(other, events)
    const entered = events.filter(
      ({ operation, table: of, row }) => of === table && operation !== 'delete' && row.note === 'old',
    )
    assert.ok(entered.length > 2_900)
    // The replication is ahead of all parts, so the position has forgotten them.
    assert.deepEqual((await sourceOf(id)).position.snapshot.parts, [])
  })

test('a copy continues keys of several columns and text keys in the order of the database', async () => {
  const table = await aTable(`id text collate "C", note text, n int, primary key (id, n)`)
  await run(
    `insert into ${table} select chr(65 + n % 57) || 'é''"\\' || n % 7, 'old', n from generate_series(1, 2500) n`,
  )
  const { id } = await aSource([table])
  await dies({ batch: 1, at: 'after' })
  await run(`delete from ${table} where n % 10 = 0`)
  await run(`insert into ${table} select 'a', 'new', 10000 + n from generate_series(1, 50) n`)
  await run(`update ${table} set note = 'changed' where n % 10 = 1`)
  await read()
  await completed(id)
  await run(`insert into ${table} (id, note, n) values ('last', 'last', 0)`)
  const events = await eventually('the last change has arrived', async () => {
    const found = await eventsIn(table)
    return found.some(({ row }) => row?.note === 'last') ? found : undefined
  })
  const rows = new Map<string, unknown>()
  for (const { operation, row, old } of events) {
    const key = JSON.stringify([(row ?? old).id, (row ?? old).n])
    if (operation === 'snapshot' || operation === 'insert') assert.ok(!rows.has(key), key)
    if (operation === 'delete') rows.delete(key)
    else rows.set(key, row.note)
  }
  const [{ n } = { n: 0 }] = await shop.database.many<{ n: number }>({
    strings: [`select count(*)::int as n from ${table}`],
    values: [],
  })
  assert.equal(rows.size, n)
})

test('a table that is truncated between two parts is copied again from its start', async () => {
  const table = await aTable()
  await run(`insert into ${table} select n, 'old' from generate_series(1, 2500) n`)
  const { id } = await aSource([table], { operations: ['insert', 'update', 'delete', 'truncate'] })
  await dies({ batch: 1, at: 'after' })
  await run(`truncate ${table}`)
  await run(`insert into ${table} select n, 'new' from generate_series(500, 1500) n`)
  await read()
  await completed(id)
  const events = await settled(table)
  assert.deepEqual(sorted(replayed(events, table)), sorted(await rowsOf(table)))
})

test('a row that is too large is skipped and counted', async () => {
  const table = await aTable()
  await run(`insert into ${table} values (1, 'a'), (2, repeat('x', 3000000)), (3, 'b')`)
  const { id } = await aSource([table])
  await read()
  const source = await completed(id)
  assert.deepEqual([source.events, source.skipped, source.snapshot.rows], [2, 1, 3])
})

test('the copy of an existing publication has only its columns, and only the rows of its filter', async () => {
  const table = await aTable('id int primary key, note text, secret text')
  await run(`insert into ${table} values (1, 'a', 'x'), (2, 'b', 'x'), (3, 'c', 'x')`)
  await run(`create publication "Only_${table}" for table ${table} (id, note) where (id > 1)`)
  const { id } = await aSource([table], { tables: null, publication: `Only_${table}` })
  await read()
  await completed(id)
  assert.deepEqual(
    (await eventsIn(table)).map(({ row }) => row),
    [
      { id: 2, note: 'b' },
      { id: 3, note: 'c' },
    ],
  )
  await run(`drop publication "Only_${table}"`)
})

test('changes between the creation of a named slot and the copy arrive only as part of the rows', async () => {
  const table = await aTable()
  await run(`insert into ${table} select n, 'old' from generate_series(1, 10) n`)
  // The publication is older than the changes: PostgreSQL would leave them out otherwise.
  await run(`create publication named_${table} for table ${table}`)
  await run(`select pg_create_logical_replication_slot('named_${table}', 'pgoutput')`)
  await run(`insert into ${table} values (11, 'new')`)
  await run(`delete from ${table} where id = 1`)
  const { id } = await aSource([table], { tables: null, publication: `named_${table}`, slot: `named_${table}` })
  const streams = await read()
  await completed(id)
  await isWhole(table, await settled(table))
  await streams.stop()
  await asked(world, `DELETE sources/${id}`)
  await run(`select pg_drop_replication_slot('named_${table}')`)
  await run(`drop publication named_${table}`)
})

test('restart copies all rows again, and without snapshot only new changes are filed', async () => {
  const table = await aTable()
  await run(`insert into ${table} values (1, 'a')`)
  const { id } = await aSource([table])
  const streams = await read()
  await completed(id)
  await streams.stop()
  assert.equal((await asked(world, `PATCH sources/${id}`, { restart: true })).source.snapshot.state, 'waiting')
  await (await read(), completed(id))
  assert.deepEqual(
    (await eventsIn(table)).map(({ operation }) => operation),
    ['snapshot', 'snapshot'],
  )
  const { connection: _stored, ...settings } = settingsFor([table], { snapshot: false }) as { connection: string }
  assert.notEqual((await asked(world, `PATCH sources/${id}`, { settings })).source.snapshot, null, 'it has been copied')
  assert.equal((await asked(world, `PATCH sources/${id}`, { restart: true })).source.snapshot, null)
})

const tried = async (settings: object): Promise<Answer['body']> =>
  (await asked(world, 'POST sources/test', { settings })).error

test('a table without a primary key, and a user without the right to read, each give one sentence with a remedy', async () => {
  const [bare, closed] = [await aTable('id int, note text'), await aTable()]
  const without = await tried(settingsFor([bare], { operations: ['insert'] }))
  assert.equal(without.reason, 'no_key')
  assert.match(without.error, /has no primary key.*set snapshot to false/)
  assert.equal(await tried(settingsFor([bare], { operations: ['insert'], snapshot: false })), null)
  await run(`create role copier_${closed} login replication`)
  await run(`create publication p_${closed} for table ${closed}`)
  const connection = connectionTo(shop.target, relay).replace(/\/\/[^:]+:/, `//copier_${closed}:`)
  const { id } = await aSource([closed], { tables: null, publication: `p_${closed}`, connection })
  await read()
  const error = await eventually('the source has an error', async () => (await sourceOf(id)).last_error ?? undefined)
  assert.equal(error.reason, 'access_denied')
  assert.match(error.error, /grant select on public\.s\d+/)
  await run(`drop publication p_${closed}`)
})
