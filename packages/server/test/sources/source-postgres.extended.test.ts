import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createSourcePolls } from '../../src/pipeline/sources/index.ts'
import { monthOf } from '../../src/domain/workspace/month.ts'
import { openDatabase, sql, type Database } from '../../src/platform/db.ts'
import { aDatabaseRelay, connectionTo, type DatabaseRelay } from '../stage/database-relay.ts'
import { aName, statement } from '../stage/fixtures.ts'
import { aDatabase, aWorld, type Answer, type World } from '../stage/harness.ts'
import { asked, payloadsIn, placeOf, setSuspended, sourceDeps } from '../stage/source-stage.ts'
import { anAuthority } from '../stage/tls-files.ts'

/** Sources that read PostgreSQL: a real one, behind a port of the test. The world has no role `work`, so a test runs the polls itself. */
let world: World
let other: World
let made: Awaited<ReturnType<typeof aDatabase>>
let shop: Database
let relay: DatabaseRelay

before(async () => {
  world = await aWorld({ env: { ROLES: 'web' }, loops: [] })
  other = await aWorld({ beside: world, env: { ROLES: 'web' } })
  made = await aDatabase()
  shop = openDatabase({ target: made.operator, connectionsMax: 4, applicationName: 'shop', statementTimeoutMs: 20_000 })
  relay = await aDatabaseRelay(made.operator)
})
after(async () => {
  await relay.stop()
  await shop.close()
  await made.drop()
  await other.stop()
  await world.stop()
})

let tables = 0

/** A table of orders. */
async function aTable(columns = 'id bigint primary key, total numeric, updated_at timestamptz'): Promise<string> {
  tables += 1
  await statement(shop, `create table t${tables} (${columns})`)
  return `t${tables}`
}

const settingsFor = (table: string, more: object = {}): object => ({
  kind: 'postgres',
  connection: connectionTo(made.operator, relay),
  tls: { mode: 'off' },
  query: `select id, total, updated_at from ${table}`,
  cursor_column: 'updated_at',
  key_column: 'id',
  start: 'beginning',
  lag_seconds: 0,
  ...more,
})

/** A source for a table, in a dataset of its name. */
async function aSource(table: string, more: object = {}, members: object = {}): Promise<Answer['body']> {
  const body = { name: aName('source'), dataset: table, settings: settingsFor(table, more), ...members }
  return (await asked(world, 'POST sources', body)).source
}
const sourceOf = async (id: string): Promise<Answer['body']> => (await asked(world, `GET sources/${id}`)).source
const run = (node = world): Promise<unknown> => createSourcePolls(sourceDeps(node), `owner ${aName('')}`).run()
function advance(ms: number): void {
  for (const node of [world, other]) node.clock.advance(ms)
}
const runLater = (ms = 60_000): Promise<unknown> => {
  advance(ms)
  return run()
}
const rowsIn = async (dataset: string): Promise<readonly Answer['body'][]> =>
  (await payloadsIn(world, dataset)).map((text) => JSON.parse(text))
const idsIn = async (dataset: string): Promise<readonly number[]> => (await rowsIn(dataset)).map(({ id }) => id)
const numbers = (from: number, to: number): readonly number[] =>
  Array.from({ length: to - from + 1 }, (_, index) => from + index)

/** Rows with these ids, all with the same time unless each has another. */
async function insert(table: string, ids: readonly number[], time = "timestamptz '2026-01-01'"): Promise<void> {
  await statement(
    shop,
    `insert into ${table} (id, total, updated_at) select n, n * 1.10, ${time} from unnest(array[${ids.join(',')}]) n`,
  )
}

test('each row becomes one event with its values as PostgreSQL writes them, and the position is shown', async () => {
  const table = await aTable()
  await statement(shop, `insert into ${table} values (1, 12345678901234567890.10, '2026-01-01 00:00:00.123456+00')`)
  const { id } = await aSource(table)
  await run()
  assert.deepEqual(await payloadsIn(world, table), [
    '{"id":1,"total":12345678901234567890.10,"updated_at":"2026-01-01T00:00:00.123456+00:00"}',
  ])
  const source = await sourceOf(id)
  assert.deepEqual(source.position, { after: { cursor: '2026-01-01 00:00:00.123456+00', key: '1' }, seen: null })
  assert.deepEqual([source.state, source.events, source.skipped, source.last_error], ['waiting', 1, 0, null])
  await runLater()
  assert.equal((await rowsIn(table)).length, 1, 'not again')
})

test('rows with the same time are all read, once each, whatever the size of a batch', async () => {
  const table = await aTable()
  await insert(table, numbers(1, 25))
  await aSource(table, { batch_limit: 4 })
  await run()
  assert.deepEqual(await idsIn(table), numbers(1, 25), 'a full batch is followed by the next one at once')
  await insert(table, [26, 27])
  await runLater()
  assert.deepEqual(await idsIn(table), numbers(1, 27))
})

test('two processes that poll at the same time store each row once', async () => {
  const table = await aTable()
  await insert(table, numbers(1, 60))
  await aSource(table, { batch_limit: 7 })
  await Promise.all([run(world), run(other), run(world), run(other)])
  assert.deepEqual(await idsIn(table), numbers(1, 60))
})

test('the rows and the position are one commit: a process that dies between them leaves the rows for the next run', async () => {
  const table = await aTable()
  await insert(table, [1, 2, 3])
  const { id } = await aSource(table)
  const dies: typeof world.app.acceptAll = (captured, alongside) =>
    world.app.acceptAll(captured, async (tx, outcomes) => {
      await alongside(tx, outcomes)
      throw new Error('The process died.')
    })
  await createSourcePolls({ ...sourceDeps(world), acceptAll: dies }, 'dying').run()
  assert.deepEqual([await rowsIn(table), (await sourceOf(id)).position], [[], null])
  await runLater()
  assert.deepEqual(await idsIn(table), [1, 2, 3])
})

test('a response that is larger than any page ends the read: the driver would store all of it in memory', async () => {
  const table = await aTable()
  await insert(table, [1])
  const query = `select id, repeat('x', 40000000) as note from ${table}`
  const { id } = await aSource(table, { query, cursor_column: 'id', key_column: 'note' })
  await run()
  const { state, last_error } = await sourceOf(id)
  assert.deepEqual([state, last_error?.reason], ['failing', 'response_too_large'])
  await asked(world, `DELETE sources/${id}`)
})

test('an owner that was paused until its lease ended no longer stores anything', async () => {
  const table = await aTable()
  await insert(table, [1, 2])
  await aSource(table)
  const late: typeof world.app.acceptAll = async (captured, alongside) => {
    advance(61_000)
    await run(other)
    return world.app.acceptAll(captured, alongside)
  }
  await createSourcePolls({ ...sourceDeps(world), acceptAll: late }, 'late').run()
  assert.deepEqual(await idsIn(table), [1, 2])
})

test('a source that starts now files only later rows', async () => {
  const table = await aTable()
  await insert(table, [1, 2])
  await aSource(table, { start: 'now' })
  await run()
  await insert(table, [3], "timestamptz '2026-01-02'")
  await runLater()
  assert.deepEqual(await idsIn(table), [3])
})

test('a row younger than the lag waits, so that a transaction that commits late is not missed', async () => {
  const table = await aTable()
  await insert(table, [2], 'now()')
  await aSource(table, { lag_seconds: 600 })
  await run()
  assert.deepEqual(await idsIn(table), [])
  await insert(table, [1], "now() - interval '1 second'")
  await statement(shop, `update ${table} set updated_at = updated_at - interval '11 minutes'`)
  await runLater()
  assert.deepEqual(await idsIn(table), [1, 2])
})

test('with a number as cursor, a lower number that is committed within the lag is not missed', async () => {
  const table = await aTable()
  await insert(table, [1, 3])
  const { id } = await aSource(table, { cursor_column: 'id', key_column: null, lag_seconds: 5 })
  await run()
  assert.deepEqual([await idsIn(table), (await sourceOf(id)).position.seen.cursor], [[], '3'])
  await insert(table, [2])
  await runLater(5_000)
  assert.deepEqual(await idsIn(table), [1, 2, 3])
})

test('only rows that meet the conditions become events, compared strictly', async () => {
  const table = await aTable('id int primary key, total text, updated_at timestamptz')
  await statement(shop, `insert into ${table} values (1, '5', now()), (2, 'x', now())`)
  await aSource(table, {}, { conditions: [{ path: 'total', equals: '5' }] })
  const none = await aSource(table, {}, { dataset: `${table}n`, conditions: [{ path: 'id', equals: '1' }] })
  await run()
  assert.deepEqual([await idsIn(table), await idsIn(`${table}n`)], [[1], []])
  assert.equal((await sourceOf(none.id)).position.after.key, '2')
})

test('a row that is too large to be stored is counted and shown, and does not stop the others', async () => {
  const table = await aTable('id int primary key, total text, updated_at timestamptz')
  await statement(
    shop,
    `insert into ${table} select n, case n when 2 then repeat('x', 2000000) else 'ok' end, now() from generate_series(1, 3) n`,
  )
  const { id } = await aSource(table)
  await run()
  const source = await sourceOf(id)
  assert.deepEqual([await idsIn(table), source.events, source.skipped], [[1, 3], 2, 1])
})

test('a batch stops at its limit of bytes and continues immediately', async () => {
  const table = await aTable('id int primary key, total text, updated_at timestamptz')
  await statement(shop, `insert into ${table} select n, repeat('x', 900000), now() from generate_series(1, 12) n`)
  const { id } = await aSource(table)
  await run()
  assert.deepEqual([await idsIn(table), (await sourceOf(id)).runs], [numbers(1, 12), 2])
})

test('a suspended workspace is not polled, and afterwards the source continues from its position', async () => {
  const table = await aTable()
  await insert(table, [1])
  await aSource(table)
  await run()
  await setSuspended(world, true)
  await insert(table, [2])
  const { count } = relay
  const earlier = count()
  await runLater()
  assert.equal(count(), earlier, 'nothing connects')
  await setSuspended(world, false)
  await runLater()
  assert.deepEqual(await idsIn(table), [1, 2])
})

test('a suspension during a run stores nothing, is not a failure, and the rows are filed afterwards', async () => {
  const table = await aTable()
  await insert(table, [1])
  const { id } = await aSource(table)
  const suspends: typeof world.app.acceptAll = async (captured, alongside) => {
    await setSuspended(world, true)
    return world.app.acceptAll(captured, alongside)
  }
  await createSourcePolls({ ...sourceDeps(world), acceptAll: suspends }, 'suspended').run()
  assert.deepEqual([await idsIn(table), (await sourceOf(id)).failures], [[], 0])
  await setSuspended(world, false)
  await runLater()
  assert.deepEqual(await idsIn(table), [1])
})

test('a source that cannot be read is tried again with growing pauses, then turned off after a day with an audit row', async () => {
  const table = await aTable()
  const { id } = await aSource(table, { query: `select id, total, updated_at from ${table}` })
  await statement(shop, `drop table ${table}`)
  const pauses: number[] = []
  for (let tries = 0; tries < 9; tries += 1) {
    // oxlint-disable-next-line no-await-in-loop -- try after try
    await run()
    // oxlint-disable-next-line no-await-in-loop -- as above
    const { next_run_at } = await sourceOf(id)
    pauses.push((Date.parse(next_run_at) - world.clock.now()) / 1_000)
    advance(Date.parse(next_run_at) - world.clock.now())
  }
  assert.deepEqual(pauses, [10, 20, 40, 80, 160, 320, 640, 900, 900])
  const failing = await sourceOf(id)
  assert.deepEqual([failing.state, failing.failures, failing.last_error.reason], ['failing', 9, 'query_failed'])
  assert.match(failing.last_error.error, /relation "t\d+" does not exist/)
  await runLater(86_400_000)
  const off = await sourceOf(id)
  assert.deepEqual([off.enabled, off.disabled_reason, off.state], [false, 'failing', 'disabled'])
  const { audit } = await asked(world, 'GET audit?action=disable_source')
  assert.deepEqual([audit[0].target, audit[0].details.reason], [id, 'failing'])
  await statement(shop, `create table ${table} (id bigint primary key, total numeric, updated_at timestamptz)`)
  await insert(table, [1])
  const again = await asked(world, `PATCH sources/${id}`, { enabled: true })
  assert.deepEqual([again.source.failing_since, again.source.failures], [null, 0])
  await run()
  assert.deepEqual([await idsIn(table), (await sourceOf(id)).last_error], [[1], null])
})

test('a quota that is used up is shown at the source and does not turn it off, however long it lasts', async () => {
  const { database } = world.app.deps
  const { workspaceId, projectId } = placeOf(world)
  const onPlan = async (plan: string): Promise<void> => {
    await database.run(sql`update workspaces set plan = ${plan} where id = ${workspaceId}`)
    for (const node of [world, other]) node.app.deps.configChanged(projectId)
  }
  const table = await aTable()
  await insert(table, [1])
  const { id } = await aSource(table)
  const { plan } = await database.one<{ plan: string }>(sql`select plan from workspaces where id = ${workspaceId}`)
  await onPlan('team')
  for (let day = 0; day < 4; day += 1) {
    // oxlint-disable-next-line no-await-in-loop -- day after day
    await database.run(sql`
      insert into monthly_usage (workspace_id, month, events)
      values (${workspaceId}, ${monthOf(world.clock.now())}::date, 1000000000)
      on conflict (workspace_id, month) do update set events = excluded.events
    `)
    // oxlint-disable-next-line no-await-in-loop -- as above
    await run()
    advance(86_400_000)
  }
  const refused = await sourceOf(id)
  assert.deepEqual([refused.enabled, refused.state, refused.events], [true, 'failing', 0])
  assert.deepEqual([refused.failures, refused.last_error.reason], [4, 'quota_exceeded'])
  await onPlan(plan)
  await run()
  const { failures, last_error } = await sourceOf(id)
  assert.deepEqual([await idsIn(table), failures, last_error], [[1], 0, null])
})

test('a database that goes away during a run is a failure with a reason, and nothing is lost or repeated', async () => {
  const table = await aTable()
  await insert(table, numbers(1, 10))
  const { id } = await aSource(table, { query: `select *, pg_sleep(0.2)::text as slept from ${table}` })
  const running = run()
  while (relay.count() === 0) await new Promise((resolve) => setImmediate(resolve))
  relay.cut()
  await running
  const { last_error: error, failures } = await sourceOf(id)
  if (failures > 0) assert.match(error.reason, /connection_reset|timeout/)
  await runLater()
  assert.deepEqual(await idsIn(table), numbers(1, 10))
})

test('a query cannot change data', async () => {
  const table = await aTable()
  await statement(shop, `create sequence s_${table}`)
  const { ok, error } = await asked(world, 'POST sources/test', {
    settings: settingsFor(table, { query: `select nextval('s_${table}')::int as id, now() as updated_at, 1 as total` }),
  })
  assert.equal(ok, false)
  assert.match(error.error, /read.only transaction/)
})

test('a test shows five rows, stores nothing and moves no position; it may use the stored connection of a source', async () => {
  const table = await aTable()
  await insert(table, numbers(1, 9))
  const tried = await asked(world, 'POST sources/test', { settings: settingsFor(table, { start: 'now' }) })
  assert.deepEqual([tried.ok, tried.items.map((row: { id: number }) => row.id)], [true, numbers(1, 5)])
  const { id } = await aSource(table, {}, { enabled: false })
  const { connection: _connection, ...settings } = settingsFor(table) as { connection: string }
  assert.equal((await asked(world, 'POST sources/test', { settings, source_id: id })).items.length, 5)
  assert.deepEqual([await idsIn(table), (await sourceOf(id)).position], [[], null])
})

test('faults of the connection are part of the answer of a test, in words that name the remedy', async () => {
  const table = await aTable()
  const tried = (more: object): Promise<Answer['body']> =>
    asked(world, 'POST sources/test', { settings: settingsFor(table, more) })
  const reasons = [
    await tried({ connection: 'postgres://nobody_here:x@127.0.0.1:' + relay.port + '/postgres' }),
    await tried({ connection: 'postgres://a:b@127.0.0.1:9/postgres' }),
    await tried({ connection: 'postgres://a:b@no-such-host.invalid/postgres', tls: { mode: 'verify' } }),
    await tried({ cursor_column: 'nothing' }),
    await tried({ tls: { mode: 'verify' } }),
  ].map(({ error }) => error.reason)
  assert.deepEqual(reasons, ['access_denied', 'connection_refused', 'dns_failed', 'query_failed', 'tls_failed'])
})

test('TLS is verified with the name of the host and the authorities of the settings', async () => {
  const table = await aTable()
  await insert(table, [1])
  const authority = anAuthority()
  const secure = await aDatabaseRelay(made.operator, authority.sign('localhost'))
  try {
    const tried = (host: string, ca: string | null): Promise<Answer['body']> =>
      asked(world, 'POST sources/test', {
        settings: settingsFor(table, {
          connection: connectionTo(made.operator, { port: secure.port, host }),
          tls: { mode: 'verify', ca },
        }),
      })
    assert.equal((await tried('localhost', authority.cert)).items.length, 1)
    assert.equal((await tried('localhost', null)).error.reason, 'tls_failed')
    assert.equal((await tried('127.0.0.1', authority.cert)).error.reason, 'tls_failed')
  } finally {
    await secure.stop()
  }
})

test('the address guard checks the host, with and without encryption, when it is saved and when it is connected to', async () => {
  const guarded = await aWorld({
    env: { ROLES: 'web', OUTBOUND_ALLOW: '' },
    resolver: {
      resolve: () => Promise.resolve({ kind: 'addresses', source: 'dns', addresses: ['169.254.169.254'] }),
      close: () => undefined,
    },
    loops: [],
  })
  try {
    const send = (connection: string, mode: string): Promise<Answer> =>
      guarded.admin('POST', 'sources', {
        name: aName('guarded'),
        dataset: 'guarded',
        settings: { ...settingsFor('t'), connection, tls: { mode } },
      })
    for (const mode of ['verify', 'off']) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      const answer = await send('postgres://a:b@127.0.0.1/shop', mode)
      assert.equal(answer.status, 400, mode)
      assert.match(answer.body.error, /settings\.connection: /)
    }
    const { source } = (await send('postgres://a:b@db.example.com/shop', 'verify')).body
    await createSourcePolls(sourceDeps(guarded), 'guarded').run()
    const { last_error: error } = (await guarded.admin('GET', `sources/${source.id}`)).body.source
    assert.equal(error.reason, 'blocked_address')
  } finally {
    await guarded.stop()
  }
})

test('the connection goes to the address that the guard has checked, not to one of another look-up', async () => {
  const table = await aTable()
  await insert(table, [1])
  let asks = 0
  const named = await aWorld({
    env: { ROLES: 'web' },
    resolver: {
      resolve: () => {
        asks += 1
        return Promise.resolve({ kind: 'addresses', source: 'dns', addresses: [asks === 1 ? '127.0.0.1' : '10.0.0.1'] })
      },
      close: () => undefined,
    },
    loops: [],
  })
  try {
    const connection = connectionTo(made.operator, { port: relay.port, host: 'shop.example.com' })
    const { body } = await named.admin('POST', 'sources/test', { settings: settingsFor(table, { connection }) })
    assert.deepEqual([body.ok, body.items.length, asks], [true, 1, 1])
  } finally {
    await named.stop()
  }
})

test('no answer, audit row, table or export contains the password, and a configuration lists the source as not exported', async () => {
  const table = await aTable()
  const password = `pw-${table}-canary`
  const connection = `postgres://reader:${password}@127.0.0.1:${relay.port}/shop`
  const { id, name, settings } = await aSource(table, { connection })
  assert.deepEqual(settings.connection, { host: '127.0.0.1', port: relay.port, database: 'shop', user: 'reader' })
  await run()
  const config = await asked(world, 'GET config/export')
  assert.ok(
    config.not_exported.some((one: { kind: string; name: string }) => one.kind === 'source' && one.name === name),
  )
  const texts = [
    JSON.stringify(await asked(world, 'GET sources')),
    JSON.stringify(await asked(world, `GET sources/${id}`)),
    JSON.stringify(await asked(world, 'GET audit')),
    JSON.stringify(config),
    ...(await world.app.deps.database.many<{ row: string }>(sql`select s::text as row from sources s`)).map(
      ({ row }) => row,
    ),
  ]
  assert.ok(!texts.some((text) => text.includes(password) || text.includes(Buffer.from(password).toString('hex'))))
})

test('a change retains the stored connection, but not for another encryption; another order starts from the beginning', async () => {
  const table = await aTable()
  await insert(table, [1, 2])
  const { id } = await aSource(table)
  await run()
  const { connection, ...settings } = settingsFor(table) as { connection: string; tls: object }
  const wider = await asked(world, `PATCH sources/${id}`, { settings: { ...settings, batch_limit: 9 } })
  assert.deepEqual([wider.source.settings.batch_limit, wider.source.position.after.key], [9, '2'])
  const refused = await world.admin('PATCH', `sources/${id}`, { settings: { ...settings, tls: { mode: 'verify' } } })
  assert.deepEqual([refused.status, /send it again/.test(refused.body.error)], [400, true])
  const another = await world.admin('PATCH', `sources/${id}`, { settings: { ...settings, kind: 'mysql' } })
  assert.equal(another.status, 400)
  const restarted = await asked(world, `PATCH sources/${id}`, {
    settings: { ...settings, connection, cursor_column: 'id', key_column: null },
  })
  assert.equal(restarted.source.position, null)
})

test('unusable settings are refused with a sentence', async () => {
  const table = await aTable()
  const refusals: readonly [object, RegExp][] = [
    [{ connection: 'mysql://a:b@127.0.0.1/shop' }, /not a connection string of this kind/],
    [{ connection: 'postgres://a:b@127.0.0.1/shop?host=/run' }, /options after "\?" are not supported/],
    [{ connection: 'postgres://127.0.0.1/shop' }, /user or the database is missing/],
    [{ connection: undefined }, /is missing/],
    [{ query: 'delete from t' }, /must be a SELECT/],
    [{ query: 'select 1;' }, /semicolon/],
    [{ poll_seconds: 1 }, /poll_seconds/],
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
})
