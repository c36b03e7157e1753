import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { createSourcePolls } from '../../src/pipeline/sources/index.ts'
import { aName } from '../stage/fixtures.ts'
import { aWorld, type Answer, type World } from '../stage/harness.ts'
import { aMariaDb, mariaDbServer, type MariaDb } from '../stage/mariadb.ts'
import { asked, payloadsIn, sourceDeps } from '../stage/source-stage.ts'

/** Sources that read MySQL, with a real MariaDB. source-postgres.extended.test.ts tests the rules of all databases. */
const server = mariaDbServer()
if (server === undefined)
  process.emitWarning('The tests of MySQL sources are skipped: install the package mariadb-server to run them.')

const numbers = (from: number, to: number): readonly number[] =>
  Array.from({ length: to - from + 1 }, (_, index) => from + index)

describe('a source that reads MySQL', { skip: server === undefined }, () => {
  let world: World
  let shop: MariaDb
  before(async () => {
    world = await aWorld({ env: { ROLES: 'web' }, loops: [] })
    shop = await aMariaDb(server ?? '')
  })
  after(async () => {
    await shop.stop()
    await world.stop()
  })

  let tables = 0
  async function aTable(columns: string): Promise<string> {
    tables += 1
    await shop.run(`create table t${tables} (${columns})`)
    return `t${tables}`
  }
  const ORDERS = 'id bigint unsigned primary key, total decimal(30,2), updated_at datetime(6)'
  const settingsFor = (table: string, more: object = {}): object => ({
    kind: 'mysql',
    connection: `mysql://reader:reader-password@127.0.0.1:${shop.port}/shop`,
    tls: { mode: 'off' },
    query: `select * from ${table}`,
    cursor_column: 'updated_at',
    key_column: 'id',
    start: 'beginning',
    lag_seconds: 0,
    ...more,
  })
  const aSource = async (table: string, more: object = {}): Promise<Answer['body']> =>
    (await asked(world, 'POST sources', { name: aName('source'), dataset: table, settings: settingsFor(table, more) }))
      .source
  const sourceOf = async (id: string): Promise<Answer['body']> => (await asked(world, `GET sources/${id}`)).source
  const run = (): Promise<unknown> => createSourcePolls(sourceDeps(world), aName('owner')).run()
  const runLater = (): Promise<unknown> => {
    world.clock.advance(60_000)
    return run()
  }
  const idsIn = async (dataset: string): Promise<readonly number[]> =>
    (await payloadsIn(world, dataset)).map((text) => JSON.parse(text).id)

  test('each row becomes one event with its values as the database writes them', async () => {
    const table = await aTable(
      `${ORDERS}, note text character set utf8mb4, \`a "name"\` json, raw varbinary(9), ratio double, day date, code int(4) zerofill, empty int`,
    )
    await shop.run(
      `insert into ${table} values (18446744073709551615, 12345678901234567890.10, '2026-01-01 00:00:00.123456', 'Grüße "😀"', '{"a": [1.50]}', x'00ff', 0.1, '2026-02-03', 7, null)`,
    )
    const { id } = await aSource(table)
    await run()
    assert.deepEqual(await payloadsIn(world, table), [
      '{"id":18446744073709551615,"total":12345678901234567890.10,"updated_at":"2026-01-01 00:00:00.123456",' +
        '"note":"Grüße \\"😀\\"","a \\"name\\"":{"a": [1.50]},"raw":"AP8=","ratio":0.1,"day":"2026-02-03","code":"0007","empty":null}',
    ])
    const { position } = await sourceOf(id)
    assert.deepEqual(position.after, { cursor: '2026-01-01 00:00:00.123456', key: '18446744073709551615' })
    await runLater()
    assert.equal((await payloadsIn(world, table)).length, 1, 'not again')
  })

  test('rows with the same time are all read, once each, in batches', async () => {
    const table = await aTable(ORDERS)
    await shop.run(`insert into ${table} select seq, 1, '2026-01-01' from seq_1_to_25`)
    await aSource(table, { batch_limit: 4 })
    await run()
    assert.deepEqual(await idsIn(table), numbers(1, 25))
    await shop.run(
      `insert into ${table} values (26, 1, '2026-01-01'), (9, 2, '2026-01-02') on duplicate key update updated_at = '2026-01-02'`,
    )
    await runLater()
    assert.deepEqual(await idsIn(table), [...numbers(1, 26), 9], 'an update comes again')
  })

  test('a row whose key is null fails the run with a sentence, and no row is skipped', async () => {
    const table = await aTable('id int null unique, updated_at datetime(6)')
    await shop.run(`insert into ${table} values (1, '2026-01-01'), (2, '2026-01-01')`)
    const { id } = await aSource(table, { batch_limit: 1 })
    await run()
    await shop.run(`insert into ${table} values (null, '2026-01-01'), (3, '2026-01-02')`)
    await runLater()
    const { last_error: error } = await sourceOf(id)
    assert.match(error?.error ?? '', /^The key_column "id" is null in a row, .* Choose a column that is never null/)
    await shop.run(`update ${table} set id = 4 where id is null`)
    await runLater()
    assert.deepEqual(await idsIn(table), [1, 2, 4, 3])
    const other = await aTable('id int null unique, updated_at datetime(6)')
    await shop.run(`insert into ${other} values (null, '2026-01-01')`)
    const { ok, error: sampled } = await asked(world, 'POST sources/test', { settings: settingsFor(other) })
    assert.equal(ok, false)
    assert.match(sampled.error, /^The key_column "id" is null in a row/)
  })

  test('numbers beyond 2^53 are compared exactly, and a lower one that is committed within the lag is not missed', async () => {
    const table = await aTable(ORDERS)
    await shop.run(`insert into ${table} values (9007199254740993, 1, null), (9007199254740995, 1, null)`)
    await aSource(table, { cursor_column: 'id', key_column: null, lag_seconds: 5, batch_limit: 1 })
    await run()
    await shop.run(`insert into ${table} values (9007199254740994, 1, null)`)
    await runLater()
    assert.deepEqual(
      (await payloadsIn(world, table)).map((text) => /"id":(\d+)/.exec(text)?.[1]),
      ['9007199254740993', '9007199254740994', '9007199254740995'],
    )
  })

  test('a text cursor is sent as a parameter, whatever it contains', async () => {
    const table = await aTable('name varchar(50) primary key, id int')
    await shop.run(`insert into ${table} values ('a'' or 1=1 --', 1), ('b\\\\', 2), ('c"', 3)`)
    await aSource(table, { cursor_column: 'name', key_column: null, batch_limit: 1 })
    await run()
    assert.deepEqual(await idsIn(table), [1, 2, 3])
  })

  test('a row younger than the lag waits', async () => {
    const table = await aTable(ORDERS)
    await shop.run(`insert into ${table} values (1, 1, utc_timestamp(6) - interval 1 hour), (2, 1, utc_timestamp(6))`)
    await aSource(table, { lag_seconds: 600 })
    await run()
    assert.deepEqual(await idsIn(table), [1])
  })

  test('a batch stops at its limit of bytes and continues immediately, and a row that is too large is counted', async () => {
    const table = await aTable('id int primary key, total longtext, updated_at datetime(6)')
    await shop.run(
      `insert into ${table} select seq, repeat('x', if(seq = 5, 2000000, 900000)), utc_timestamp(6) from seq_1_to_12`,
    )
    const { id } = await aSource(table)
    await run()
    const source = await sourceOf(id)
    assert.deepEqual([await idsIn(table), source.skipped], [numbers(1, 12).filter((one) => one !== 5), 1])
    assert.ok(source.runs > 1)
  })

  test('faults are shown in words that name the remedy, and a query cannot change data', async () => {
    const table = await aTable(ORDERS)
    await shop.run('create or replace sequence s')
    await shop.run("grant insert, update on shop.* to 'reader'@'%'")
    const reasons: string[] = []
    for (const more of [
      { connection: `mysql://reader:wrong@127.0.0.1:${shop.port}/shop` },
      { connection: `mysql://reader:reader-password@127.0.0.1:${shop.port}/nothing` },
      { query: 'select * from missing' },
      { query: `select nextval(s) as id, now(6) as updated_at` },
      { tls: { mode: 'verify' } },
    ]) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      const { ok, error } = await asked(world, 'POST sources/test', { settings: settingsFor(table, more) })
      assert.equal(ok, false, JSON.stringify(more))
      reasons.push(error.reason)
      assert.ok(!error.error.includes('reader-password'))
    }
    assert.deepEqual(reasons, ['access_denied', 'access_denied', 'query_failed', 'query_failed', 'tls_failed'])
  })

  test('a test of unsaved settings shows five rows', async () => {
    const table = await aTable(ORDERS)
    await shop.run(`insert into ${table} select seq, 1, '2026-01-01' from seq_1_to_9`)
    const { ok, items } = await asked(world, 'POST sources/test', { settings: settingsFor(table) })
    assert.deepEqual([ok, items.map((row: { id: number }) => row.id)], [true, numbers(1, 5)])
  })
})
