import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { decodeId } from '@postroad/contract'
import { createStreams, watchSlots } from '../../src/pipeline/sources/index.ts'
import { sql } from '../../src/platform/db.ts'
import { aDatabaseRelay, connectionTo, type DatabaseRelay } from '../stage/database-relay.ts'
import { aName, statement } from '../stage/fixtures.ts'
import { aWorld, eventually, type Answer, type World } from '../stage/harness.ts'
import { aLogicalPostgres, type LogicalPostgres } from '../stage/logical-postgres.ts'
import { asked, placeOf, setSuspended, sourceDeps } from '../stage/source-stage.ts'
import { anAuthority } from '../stage/tls-files.ts'

/** The replication slots of sources: Postroad watches and drops them. The database limits their WAL to 40 MiB. */
let world: World
let shop: LogicalPostgres
let relay: DatabaseRelay

before(async () => {
  world = await aWorld({ env: { ROLES: 'web' }, loops: [] })
  shop = await aLogicalPostgres({ max_slot_wal_keep_size: '40MB' })
  relay = await aDatabaseRelay(shop.target)
  await world.app.deps.database.run(sql`update users set email = 'owner@example.com'`)
})
after(async () => {
  await relay.stop()
  await shop.stop()
  await world.stop()
})

const run = (text: string): Promise<void> => statement(shop.database, text)
let tables = 0

async function aSource(more: object = {}): Promise<Answer['body']> {
  tables += 1
  await run(`create table t${tables} (id bigint primary key)`)
  const settings = {
    kind: 'postgres_replication',
    connection: connectionTo(shop.target, relay),
    tls: { mode: 'off' },
    tables: [`t${tables}`],
    ...more,
  }
  const { source } = await asked(world, 'POST sources', { name: aName('source'), dataset: 'changes', settings })
  const streams = createStreams(sourceDeps(world), aName('owner'))
  await streams.run()
  await eventually('the source has a position', async () =>
    (await sourceOf(source.id)).position === null ? undefined : true,
  )
  await streams.stop()
  return source
}
const sourceOf = async (id: string): Promise<Answer['body']> => (await asked(world, `GET sources/${id}`)).source
const slotOf = (id: string): string => `postroad_${(decodeId('source', id) ?? '').replaceAll('-', '')}`
const slotNames = async (): Promise<readonly string[]> =>
  (await shop.database.many<{ slot_name: string }>(sql`select slot_name from pg_replication_slots`)).map(
    ({ slot_name: name }) => name,
  )
async function watch(): Promise<void> {
  world.clock.advance(600_000)
  await watchSlots(world.app.deps)
}

test('a source shows the lag of its slot and the WAL that the slot retains; a source that is turned off shows a warning with the amount', async () => {
  const { id } = await aSource()
  await run('create table filler as select repeat(md5(n::text), 30) as text from generate_series(1, 3000) n')
  await watch()
  const { replication } = await sourceOf(id)
  assert.deepEqual([replication.slot, replication.wal_status, replication.warning], [slotOf(id), 'reserved', null])
  assert.ok(replication.lag_bytes > 1_000_000 && replication.retained_bytes >= replication.lag_bytes)
  await asked(world, `PATCH sources/${id}`, { enabled: false })
  await watch()
  const off = (await sourceOf(id)).replication
  assert.match(
    off.warning,
    /^No process reads the replication slot postroad_\w+\. The source database retains \d+ MiB of WAL.*delete it, which drops the slot\.$/,
  )
  await asked(world, `DELETE sources/${id}`)
})

test('a slot that the database has invalidated is a warning, an audit row and one email; restart begins with a new slot', async () => {
  const { id } = await aSource()
  await asked(world, `PATCH sources/${id}`, { enabled: false })
  for (let round = 0; round < 5; round += 1) {
    // oxlint-disable-next-line no-await-in-loop -- WAL after WAL
    await run(`insert into filler select repeat(md5(n::text), 30) from generate_series(1, 12000) n`)
    // oxlint-disable-next-line no-await-in-loop -- as above
    await run('select pg_switch_wal()')
    // oxlint-disable-next-line no-await-in-loop -- as above
    await run('checkpoint')
  }
  await watch()
  await watch()
  const lost = await sourceOf(id)
  assert.equal(lost.replication.wal_status, 'lost')
  assert.match(lost.replication.warning, /invalidated.*restart: true/)
  const { audit } = await asked(world, 'GET audit?action=warn_source_slot')
  assert.deepEqual(
    audit.map(({ target }: { target: string }) => target),
    [id],
  )
  const mails = await world.app.deps.database.many(sql`select 1 from mails where kind = 'source_slot_retains'`)
  assert.equal(mails.length, 1)
  await asked(world, `PATCH sources/${id}`, { enabled: true })
  const streams = createStreams(sourceDeps(world), aName('owner'))
  await streams.run()
  await eventually('the source has failed', async () => ((await sourceOf(id)).failures > 0 ? true : undefined))
  assert.equal((await sourceOf(id)).last_error.reason, 'slot_lost')
  await asked(world, `PATCH sources/${id}`, { restart: true })
  await streams.run()
  await eventually('the source has a position', async () => ((await sourceOf(id)).position === null ? undefined : true))
  await watch()
  assert.equal((await sourceOf(id)).replication.wal_status, 'reserved')
  await streams.stop()
  await asked(world, `DELETE sources/${id}`)
})

test('deleting a source drops its slot and its publication, also while a process reads it', async () => {
  const { id } = await aSource()
  const streams = createStreams(sourceDeps(world), aName('owner'))
  await streams.run()
  await eventually('the slot is in use', async () => {
    const active = await shop.database.many(sql`select 1 from pg_replication_slots where active`)
    return active.length > 0 ? true : undefined
  })
  assert.deepEqual(await asked(world, `DELETE sources/${id}`), { ok: true, left_behind: null })
  assert.deepEqual(await slotNames(), [])
  assert.equal((await shop.database.many(sql`select 1 from pg_publication`)).length, 0)
  await streams.stop()
})

test('a slot that cannot be dropped does not prevent the deletion of its source: the answer and the audit row have its remedy', async () => {
  const broken = await aDatabaseRelay(shop.target)
  const { id } = await aSource({ connection: connectionTo(shop.target, broken) })
  await broken.stop()
  const { left_behind: left } = await asked(world, `DELETE sources/${id}`)
  assert.match(
    left,
    new RegExp(`select pg_drop_replication_slot\\('${slotOf(id)}'\\); drop publication if exists ${slotOf(id)}`),
  )
  const { audit } = await asked(world, 'GET audit?action=delete_source')
  assert.equal(audit[0].details.left_behind, left)
  assert.equal((await world.admin('GET', `sources/${id}`)).status, 404)
  await run(`select pg_drop_replication_slot('${slotOf(id)}')`)
  await run(`drop publication ${slotOf(id)}`)
})

test('the slots of a suspended workspace are left alone, and those of a deleted project are dropped', async () => {
  const { id } = await aSource()
  await setSuspended(world, true)
  const connections = relay.count()
  await watch()
  assert.equal(relay.count(), connections, 'nothing connects')
  await setSuspended(world, false)
  const { database } = world.app.deps
  const { projectId } = placeOf(world)
  const deletedAt = (at: Date | null): Promise<number> =>
    database.run(sql`update projects set deleted_at = ${at} where id = ${projectId}`)
  await deletedAt(new Date(world.clock.now()))
  await watch()
  assert.deepEqual(await slotNames(), [])
  await deletedAt(null)
  const streams = createStreams(sourceDeps(world), aName('owner'))
  world.clock.advance(60_000)
  await streams.run()
  await eventually('the source has failed', async () => ((await sourceOf(id)).failures > 0 ? true : undefined))
  assert.equal((await sourceOf(id)).last_error.reason, 'slot_lost', 'a gap is never hidden')
  await streams.stop()
  await asked(world, `DELETE sources/${id}`)
})

test('TLS is verified for the connection of the replication too', async () => {
  const authority = anAuthority()
  const secure = await aDatabaseRelay(shop.target, authority.sign('localhost'))
  try {
    const at = { port: secure.port, host: 'localhost' }
    const { id } = await aSource({
      connection: connectionTo(shop.target, at),
      tls: { mode: 'verify', ca: authority.cert },
    })
    const streams = createStreams(sourceDeps(world), aName('owner'))
    await streams.run()
    await eventually('the slot is in use', async () => {
      const active = await shop.database.many(sql`select 1 from pg_replication_slots where active`)
      return active.length > 0 ? true : undefined
    })
    await run(`insert into t${tables} values (1)`)
    await eventually('the event has arrived', async () => ((await sourceOf(id)).events === 1 ? true : undefined))
    await streams.stop()
    await asked(world, `DELETE sources/${id}`)
    const { error } = await asked(world, 'POST sources/test', {
      settings: {
        kind: 'postgres_replication',
        connection: connectionTo(shop.target, { port: secure.port, host: '127.0.0.1' }),
        tls: { mode: 'verify', ca: authority.cert },
        tables: [`t${tables}`],
      },
    })
    assert.equal(error.reason, 'tls_failed')
  } finally {
    await secure.stop()
  }
})
