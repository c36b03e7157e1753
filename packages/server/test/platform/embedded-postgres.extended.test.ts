import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import {
  aDataFolder,
  aFolder,
  aServer,
  ask,
  cleanings,
  isOneLine,
  kill,
  note,
  onDataFolders,
  open,
  pidOf,
  seedFolder,
  until,
} from '../stage/embedded-folders.ts'
import { sql } from '../../src/platform/db.ts'
import { packCluster } from '../../src/platform/postgres/packed.ts'
import { placeOf } from '../../src/platform/postgres/place.ts'
import { postmasterOf, runs } from '../../src/platform/postgres/postmaster.ts'
import { exists } from '../../src/platform/postgres/server-lock.ts'

onDataFolders()

test('the first start cleans up an interrupted one; no setting makes the database less durable', async () => {
  const dataDir = aFolder()
  mkdirSync(join(dataDir, 'postgres.new-abc123'))
  writeFileSync(join(dataDir, 'postgres.new-abc123', 'PG_VERSION'), '18\n')
  mkdirSync(join(dataDir, 'postgres'))
  const settings = { fsync: 'off', synchronous_commit: 'off', listen_addresses: '*', max_connections: '23' }
  const postgres = await open(dataDir, { settings })
  assert.equal(postgres.started, true)
  const found = await ask(
    postgres,
    sql`
    select current_setting('fsync') as fsync, current_setting('synchronous_commit') as synchronous_commit,
           current_setting('full_page_writes') as full_page_writes, current_setting('data_checksums') as data_checksums,
           current_setting('listen_addresses') as listen_addresses,
           current_setting('max_connections') as max_connections, current_setting('server_encoding') as encoding,
           current_setting('jit') as jit, current_database() as name, current_user as me`,
  )
  assert.deepEqual(
    { ...found },
    {
      fsync: 'on',
      synchronous_commit: 'on',
      full_page_writes: 'on',
      data_checksums: 'on',
      listen_addresses: '',
      max_connections: '23',
      encoding: 'UTF8',
      jit: 'off',
      name: 'postroad',
      me: 'postroad_server',
    },
  )
  assert.equal(statSync(postgres.connection.host).mode & 0o777, 0o700)
  assert.equal(statSync(join(dataDir, 'postgres')).mode & 0o777, 0o700)
  assert.deepEqual(readdirSync(dataDir).toSorted(), ['postgres', 'postgres.log', 'run', 'server.lock', 'server.pid'])
})

test('a fresh folder is a copy of a ready-made cluster, and existing data is not', async () => {
  const dataDir = aFolder()
  const packed = packCluster(join(aDataFolder(), 'postgres'))
  const first = await open(dataDir, { readyMade: () => packed })
  const {
    note: found,
    checksums,
    fsync,
  } = await ask<{ note: string; checksums: string; fsync: string }>(
    first,
    sql`select note, current_setting('data_checksums') as checksums, current_setting('fsync') as fsync from notes`,
  )
  assert.deepEqual({ found, checksums, fsync }, { found: 'kept', checksums: 'on', fsync: 'on' })
  await first.stop()
  const again = await open(dataDir, { readyMade: () => assert.fail('the folder has data') })
  assert.equal((await note(again)).note, 'kept')
  assert.deepEqual(readdirSync(dataDir).toSorted(), ['postgres', 'postgres.log', 'run', 'server.lock', 'server.pid'])
})

test('a ready-made cluster that is damaged is not used', async () => {
  const packed = packCluster(join(aDataFolder(), 'postgres'))
  for (const damaged of [Buffer.from('not a cluster'), packed.subarray(0, -1_000)]) {
    const dataDir = aFolder()
    const postgres = await open(dataDir, { readyMade: () => damaged })
    assert.deepEqual(
      await ask(postgres, sql`select to_regclass('notes') as notes, current_setting('data_checksums') as checksums`),
      { notes: null, checksums: 'on' },
    )
    await postgres.stop()
  }
})

test('a later start uses the existing data', async () => {
  const dataDir = seedFolder()
  for (let round = 0; round < 2; round++) {
    const postgres = await open(dataDir)
    assert.equal((await note(postgres)).note, 'kept')
    const pid = pidOf(dataDir)
    await Promise.all([postgres.stop(), postgres.stop()])
    await postgres.stop()
    assert.equal(exists(pid), false)
  }
})

test('a folder in use by a live server is refused with its process id, from this process and from another', async () => {
  const dataDir = seedFolder()
  const postgres = await open(dataDir)
  const line = new RegExp(`is in use by another Postroad server \\(process ${process.pid}\\): stop it`)
  await assert.rejects(open(dataDir), isOneLine(line))
  const other = await aServer(dataDir)
  assert.equal(other.said.error, 'StartError')
  assert.match(other.said.message ?? '', line)
  assert.equal((await note(postgres)).note, 'kept')
})

test('of servers that start at the same instant exactly one wins, on a new folder and over an orphan', async () => {
  const dataDir = join(aFolder(), 'data')
  for (let round = 0; round < 2; round++) {
    const all = await Promise.all([aServer(dataDir), aServer(dataDir), aServer(dataDir)])
    const losers = all.filter(({ said }) => said.open !== true)
    assert.equal(losers.length, 2, JSON.stringify(all.map(({ said }) => said)))
    const winner = all.find(({ said }) => said.open === true)
    assert.ok(winner)
    const line = new RegExp(`in use by another Postroad server \\(process ${winner.process.pid}\\)`)
    for (const { said } of losers) assert.match(said.message ?? '', line)
    await kill(winner.process)
    assert.ok(runs(pidOf(dataDir), placeOf(dataDir).folder), 'the killed server leaves an orphan for the next round')
  }
})

test('after SIGKILL of the server the next start, own or join, stops the orphaned PostgreSQL and runs a new one', async () => {
  const dataDir = seedFolder()
  for (const mode of ['own', 'join'] as const) {
    const server = await aServer(dataDir)
    assert.equal(server.said.open, true, server.said.message)
    const orphan = pidOf(dataDir)
    await kill(server.process)
    assert.ok(runs(orphan, placeOf(dataDir).folder), 'PostgreSQL outlives the server')
    const lines: string[] = []
    const postgres = await open(dataDir, { mode, log: (line) => lines.push(line) })
    assert.equal(postgres.started, true)
    assert.notEqual(pidOf(dataDir), orphan)
    assert.equal(runs(orphan, placeOf(dataDir).folder), false)
    assert.deepEqual(lines, ['Stopped the PostgreSQL that a killed Postroad server had left running'])
    assert.equal((await note(postgres)).note, 'kept')
    await postgres.stop()
  }
})

test('an unrelated process with the process id of a crashed PostgreSQL is neither taken for it nor harmed', async () => {
  const dataDir = seedFolder()
  const server = await aServer(dataDir)
  const { folder, socketDir } = placeOf(dataDir)
  const old = pidOf(dataDir)
  await kill(server.process)
  process.kill(old, 'SIGKILL')
  await until(() => !runs(old, folder))
  // The same user as PostgreSQL, because PostgreSQL itself only considers processes of its own user.
  const { uid, gid } = statSync(folder)
  const stranger = spawn('sleep', ['60'], { uid, gid })
  cleanings.push(() => stranger.kill('SIGKILL'))
  await once(stranger, 'spawn')
  const rename = (file: string): void => {
    const [, ...rest] = readFileSync(file, 'utf8').split('\n')
    writeFileSync(file, [stranger.pid, ...rest].join('\n'))
  }
  rename(join(folder, 'postmaster.pid'))
  rename(join(socketDir, '.s.PGSQL.5432.lock'))
  const postgres = await open(dataDir)
  assert.equal((await note(postgres)).note, 'kept')
  assert.equal(stranger.exitCode ?? stranger.signalCode, null)
})

test('join beside a running server uses its PostgreSQL and leaves it running', async () => {
  const dataDir = seedFolder()
  const owner = await open(dataDir)
  const guest = await open(dataDir, { mode: 'join' })
  assert.equal(guest.started, false)
  assert.deepEqual(guest.connection, owner.connection)
  assert.equal((await note(guest)).note, 'kept')
  await guest.stop()
  assert.equal((await note(owner)).note, 'kept')
  const other = await aServer(dataDir, { mode: 'join' })
  assert.deepEqual(other.said, { open: true, started: false })
})

test('join alone runs PostgreSQL temporarily; a server that starts meanwhile waits for it', async () => {
  const dataDir = seedFolder()
  const guest = await open(dataDir, { mode: 'join' })
  assert.equal(guest.started, true)
  const pid = pidOf(dataDir)
  const owner = open(dataDir)
  assert.equal((await note(guest)).note, 'kept')
  await guest.stop()
  assert.equal(exists(pid), false)
  assert.equal((await note(await owner)).note, 'kept')
})

test('when PostgreSQL is killed under the server, one line reports it and PostgreSQL comes back by itself', async () => {
  const dataDir = seedFolder()
  const lines: string[] = []
  const back: string[] = []
  const postgres = await open(dataDir, { log: (line) => back.push(line) })
  postgres.onExit((line) => lines.push(line))
  process.kill(pidOf(dataDir), 'SIGKILL')
  await until(() => back.length > 0)
  assert.match(lines[0] ?? '', /^PostgreSQL stopped unexpectedly \(SIGKILL\): /)
  assert.deepEqual(back, ['PostgreSQL is running again'])
  assert.equal((await note(postgres)).note, 'kept')
})

test('stop ends the attempts to restart PostgreSQL, and they end by themselves when the data is gone', async () => {
  const dataDir = aDataFolder()
  const lines: string[] = []
  const postgres = await open(dataDir)
  postgres.onExit((line) => lines.push(line))
  const pid = pidOf(dataDir)
  rmSync(join(dataDir, 'postgres'), { recursive: true, maxRetries: 9 })
  if (exists(pid)) process.kill(pid, 'SIGKILL')
  await until(() => lines.some((line) => /cannot be started again: .* is gone$/.test(line)))
  await postgres.stop()

  const second = aDataFolder()
  const failing = await open(second)
  const reasons: string[] = []
  failing.onExit((line) => reasons.push(line))
  rmSync(join(second, 'postgres', 'global', 'pg_control'))
  process.kill(pidOf(second), 'SIGKILL')
  await until(() => reasons.length > 1)
  await failing.stop()
  assert.match(reasons[1] ?? '', /^The data in .* is damaged/)
  assert.equal(runs(postmasterOf(join(second, 'postgres'))?.pid ?? 0, join(second, 'postgres')), false)
})
