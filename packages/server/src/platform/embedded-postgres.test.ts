import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, chownSync, cpSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync,
  rmSync, statfsSync, statSync, writeFileSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { after, afterEach, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { openDatabase, sql } from './db.ts'
import type { Database, Sql } from './db.ts'
import { openEmbeddedPostgres, StartError } from './embedded-postgres.ts'
import type { EmbeddedPostgres, EmbeddedPostgresOptions } from './embedded-postgres.ts'
import { placeOf } from './postgres/place.ts'
import { bringDown, postmasterOf, runs } from './postgres/postmaster.ts'
import { exists } from './postgres/server-lock.ts'

const isRoot = process.getuid?.() === 0
const needsRoot = isRoot ? false : 'SKIPPED, NOT PROVED HERE: this needs root'
const nobody = 65534

const opened: EmbeddedPostgres[] = []
const children: ChildProcess[] = []
const folders: string[] = []
const mounts: string[] = []
const cleanings: (() => void)[] = []
/** The data folder that the tests share which leave it as whole as they found it. */
let seed = ''

/** A folder of its own for a test, empty. */
function aFolder(under = tmpdir()): string {
  const folder = mkdtempSync(join(realpathSync(under), 'postroad-test-'))
  if (under === tmpdir()) chmodSync(folder, 0o755)
  folders.push(folder)
  return folder
}

/** A data folder with a database that has one row, copied from one that a server made. */
function aDataFolder(name = 'data'): string {
  const dataDir = join(aFolder(), name)
  mkdirSync(dataDir)
  cpSync(join(seed, 'postgres'), join(dataDir, 'postgres'), { recursive: true })
  return dataDir
}

async function open(dataDir: string, options: Partial<EmbeddedPostgresOptions> = {}): Promise<EmbeddedPostgres> {
  const postgres = await openEmbeddedPostgres({ dataDir, mode: 'own', ...options })
  opened.push(postgres)
  return postgres
}

function connect(postgres: EmbeddedPostgres): Database {
  const target = postgres.connection
  return openDatabase({ target, connectionsMax: 1, applicationName: 'test', statementTimeoutMs: 20_000 })
}

async function ask<Row extends object>(postgres: EmbeddedPostgres, query: Sql): Promise<Row> {
  const db = connect(postgres)
  try {
    return await db.one<Row>(query)
  } finally {
    await db.close()
  }
}

const note = (postgres: EmbeddedPostgres): Promise<{ note: string }> => ask(postgres, sql`select note from notes`)

function pidOf(dataDir: string): number {
  const found = postmasterOf(placeOf(dataDir).folder)
  assert.ok(found, 'a postmaster.pid is there')
  return found.pid
}

function uidOf(dataDir: string): number {
  return Number(/^Uid:\s+(\d+)/m.exec(readFileSync(`/proc/${pidOf(dataDir)}/status`, 'utf8'))?.[1])
}

type Said = { readonly open?: boolean, readonly started?: boolean, readonly error?: string, readonly message?: string }
type ServerOptions = { readonly mode?: string, readonly uid?: number, readonly wrapper?: readonly string[] }
type Server = { readonly process: ChildProcess, readonly said: Said }

// Stops in order when its input ends, so that not even a killed test run leaves a server behind.
const PROGRAM = `
const [, url, dataDir, mode] = process.argv
const { openEmbeddedPostgres } = await import(url)
const say = (value) => process.stdout.write(JSON.stringify(value) + '\\n')
try {
  const postgres = await openEmbeddedPostgres({ dataDir, mode })
  say({ open: true, started: postgres.started })
  process.stdin.resume().on('end', async () => { await postgres.stop(); process.exit() })
} catch (error) {
  say({ error: error.name, message: error.message })
  process.exit()
}`

/** Another Node process that opens the folder, through `wrapper` when one is given. */
async function aServer(dataDir: string, options: ServerOptions = {}): Promise<Server> {
  const { mode = 'own', uid, wrapper = [] } = options
  const url = new URL('embedded-postgres.ts', import.meta.url).href
  const words = [...wrapper, process.execPath, '--input-type=module', '-e', PROGRAM, url, dataDir, mode]
  const as = uid === undefined ? {} : { uid, gid: uid }
  const child = spawn(words[0] ?? '', words.slice(1), { stdio: ['pipe', 'pipe', 'inherit'], ...as })
  children.push(child)
  const [line] = await once(createInterface(child.stdout), 'line')
  return { process: child, said: JSON.parse(String(line)) as Said }
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const gone = once(child, 'exit')
  child.stdin?.end()
  await gone
}

async function kill(child: ChildProcess): Promise<void> {
  const gone = once(child, 'exit')
  child.kill('SIGKILL')
  await gone
}

async function until(what: () => boolean, patienceMs = 15_000): Promise<void> {
  const deadline = performance.now() + patienceMs
  while (!what()) {
    assert.ok(performance.now() < deadline, `waited in vain for ${what.toString()}`)
    await sleep(10)
  }
}

function isOneLine(pattern: RegExp): (error: unknown) => boolean {
  return (error) => {
    assert.ok(error instanceof StartError, String(error))
    assert.doesNotMatch(error.message, /\n/)
    assert.match(error.message, pattern)
    return true
  }
}

before(async () => {
  seed = aFolder()
  folders.pop()
  const postgres = await openEmbeddedPostgres({ dataDir: seed, mode: 'own' })
  const db = connect(postgres)
  await db.run(sql`create table notes as select 'kept'::text as note`)
  await db.close()
  await postgres.stop()
})

afterEach(async () => {
  await Promise.all(opened.splice(0).map((postgres) => postgres.stop()))
  await Promise.all(children.splice(0).map(end))
  for (const clean of cleanings.splice(0)) clean()
  for (const folder of [seed, ...folders]) await stopLeftovers(folder)
  for (const mount of mounts.splice(0)) execFileSync('/usr/bin/umount', ['-l', mount])
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
})

/** Stops any PostgreSQL below a folder that a failed test left running. */
async function stopLeftovers(folder: string): Promise<void> {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  for (const found of files.filter((path) => path.endsWith('postmaster.pid'))) {
    const home = dirname(join(folder, found))
    const pid = postmasterOf(home)?.pid ?? 0
    await bringDown(pid, () => !runs(pid, home))
  }
}

after(() => { rmSync(seed, { recursive: true, force: true }) })

test('the first start sweeps an interrupted one away; no setting makes the database less durable', async () => {
  const dataDir = aFolder()
  mkdirSync(join(dataDir, 'postgres.new-abc123'))
  writeFileSync(join(dataDir, 'postgres.new-abc123', 'PG_VERSION'), '18\n')
  mkdirSync(join(dataDir, 'postgres'))
  const settings = { fsync: 'off', synchronous_commit: 'off', listen_addresses: '*', max_connections: '23' }
  const postgres = await open(dataDir, { settings })
  assert.equal(postgres.started, true)
  const found = await ask(postgres, sql`
    select current_setting('fsync') as fsync, current_setting('synchronous_commit') as synchronous_commit,
           current_setting('full_page_writes') as full_page_writes, current_setting('data_checksums') as data_checksums,
           current_setting('listen_addresses') as listen_addresses,
           current_setting('max_connections') as max_connections, current_setting('server_encoding') as encoding,
           current_setting('jit') as jit, current_database() as name, current_user as me`)
  assert.deepEqual({ ...found }, { fsync: 'on', synchronous_commit: 'on', full_page_writes: 'on', data_checksums: 'on',
    listen_addresses: '', max_connections: '23', encoding: 'UTF8', jit: 'off', name: 'postroad', me: 'postroad' })
  assert.equal(statSync(postgres.connection.host).mode & 0o777, 0o700)
  assert.equal(statSync(join(dataDir, 'postgres')).mode & 0o777, 0o700)
  assert.deepEqual(readdirSync(dataDir).toSorted(), ['postgres', 'postgres.log', 'run', 'server.lock', 'server.pid'])
})

test('a later start takes the data that is there', async () => {
  const dataDir = seed
  for (let round = 0; round < 2; round++) {
    const postgres = await open(dataDir)
    assert.equal((await note(postgres)).note, 'kept')
    const pid = pidOf(dataDir)
    await Promise.all([postgres.stop(), postgres.stop()])
    await postgres.stop()
    assert.equal(exists(pid), false)
  }
})

test('a folder in use by a live server is refused with its process, from this process and from another', async () => {
  const dataDir = seed
  const postgres = await open(dataDir)
  const line = new RegExp(`is in use by another Postroad server \\(process ${process.pid}\\): stop it`)
  await assert.rejects(open(dataDir), isOneLine(line))
  const other = await aServer(dataDir)
  assert.equal(other.said.error, 'StartError')
  assert.match(other.said.message ?? '', line)
  assert.equal((await note(postgres)).note, 'kept')
})

test('of servers started at one instant exactly one wins, on a new folder and over an orphan', async () => {
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

test('after SIGKILL of the server its orphan is stopped and the next start, own or join, has its own', async () => {
  const dataDir = seed
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

test('a stranger that was given the process id of a crashed PostgreSQL is neither believed nor harmed', async () => {
  const dataDir = seed
  const server = await aServer(dataDir)
  const { folder, socketDir } = placeOf(dataDir)
  const old = pidOf(dataDir)
  await kill(server.process)
  process.kill(old, 'SIGKILL')
  await until(() => !runs(old, folder))
  // The same user as PostgreSQL's, since PostgreSQL itself only fears processes of its own user.
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
  const dataDir = seed
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

test('join alone runs PostgreSQL for the moment; a server that starts meanwhile waits for it', async () => {
  const dataDir = seed
  const guest = await open(dataDir, { mode: 'join' })
  assert.equal(guest.started, true)
  const pid = pidOf(dataDir)
  const owner = open(dataDir)
  assert.equal((await note(guest)).note, 'kept')
  await guest.stop()
  assert.equal(exists(pid), false)
  assert.equal((await note(await owner)).note, 'kept')
})

test('PostgreSQL killed under the server is told in one line and comes back by itself', async () => {
  const dataDir = seed
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

test('stop ends the attempts to bring PostgreSQL back, and those end by themselves when the data is gone', async () => {
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

test('data of another version or program, or damaged, is refused with what to do and left as it was', async () => {
  const older = aFolder()
  mkdirSync(join(older, 'postgres'))
  writeFileSync(join(older, 'postgres', 'PG_VERSION'), '16\n')
  await assert.rejects(open(older), isOneLine(/was made by PostgreSQL 16 .*pg_dump/))
  const foreign = aFolder()
  mkdirSync(join(foreign, 'postgres'))
  writeFileSync(join(foreign, 'postgres', 'diary.txt'), 'mine')
  await assert.rejects(open(foreign), isOneLine(/is not a PostgreSQL data folder: move it away/))
  assert.equal(readFileSync(join(foreign, 'postgres', 'diary.txt'), 'utf8'), 'mine')
  const damaged = aDataFolder()
  writeFileSync(join(damaged, 'postgres', 'global', 'pg_control'), Buffer.alloc(8192))
  await assert.rejects(open(damaged), isOneLine(/is damaged or is not PostgreSQL's .*restore a backup/))
  const file = join(aFolder(), 'file')
  writeFileSync(file, '')
  await assert.rejects(open(file), isOneLine(/is a file where a folder is needed/))
})

test('a refused start lets the folder go', async () => {
  const dataDir = seed
  const settings = { shared_buffers: 'much' }
  await assert.rejects(open(dataDir, { settings }), isOneLine(/"shared_buffers": "much".*its log is/))
  assert.equal((await note(await open(dataDir))).note, 'kept')
})

test('a path too long for a socket gets a short socket folder, which no stranger can prepare', async () => {
  const dataDir = aDataFolder('läng '.repeat(40))
  const { socketDir } = placeOf(dataDir)
  cleanings.push(() => { rmSync(socketDir, { recursive: true, force: true }) })
  assert.notEqual(dirname(socketDir), dataDir)
  if (isRoot) {
    mkdirSync(socketDir)
    chownSync(socketDir, 12_345, 12_345)
    await assert.rejects(open(dataDir), isOneLine(/belongs to another user: remove it/))
    rmSync(socketDir, { recursive: true })
  }
  const postgres = await open(dataDir)
  assert.equal(postgres.connection.host, socketDir)
  assert.equal(lstatSync(socketDir).mode & 0o777, 0o700)
  assert.equal((await note(postgres)).note, 'kept')
})

test('root: PostgreSQL runs as the owner of the data folder, else as nobody', { skip: needsRoot }, async () => {
  const plain = aDataFolder('with , "comma')
  assert.equal((await note(await open(plain))).note, 'kept')
  assert.equal(uidOf(plain), nobody)
  const owned = aDataFolder()
  chownSync(owned, 2, 2)
  assert.equal((await note(await open(owned))).note, 'kept')
  assert.equal(uidOf(owned), 2)
})

test('root: it works below a closed folder, with spaces and any letters in the path', { skip: needsRoot }, async () => {
  const closed = aFolder(homedir())
  assert.equal(statSync(closed).mode & 0o777, 0o700)
  const dataDir = join(closed, 'Daten für später', 'データ')
  for (let round = 0; round < 2; round++) {
    const postgres = await open(dataDir)
    await ask(postgres, sql`select 1 as one`)
    assert.match(readFileSync(`/proc/${pidOf(dataDir)}/status`, 'utf8'), /^Uid:\s+65534\s+65534/m)
    await postgres.stop()
  }
  const server = await aServer(dataDir)
  const orphan = pidOf(dataDir)
  await kill(server.process)
  await open(dataDir)
  assert.equal(runs(orphan, placeOf(dataDir).folder), false)
})

test('root without the right to pass closed folders: one line says what to do', { skip: needsRoot }, async () => {
  const dataDir = join(aFolder(homedir()), 'data')
  const { said } = await aServer(dataDir, { wrapper: ['setpriv', '--bounding-set=-dac_override', '--'] })
  assert.equal(said.error, 'StartError')
  assert.match(said.message ?? '', /^PostgreSQL does not run as root.*set DATA_DIR to a folder that others can enter/)
  const noChown = { wrapper: ['setpriv', '--bounding-set=-chown', '--'] }
  const { said: unowned } = await aServer(join(aFolder(), 'data'), noChown)
  assert.match(unowned.message ?? '', /this root user may not become another: run Postroad as an ordinary user$/)
  const bare = await aServer(join(aFolder(), 'data'), { wrapper: ['setpriv', '--bounding-set=-setuid,-setgid', '--'] })
  assert.match(bare.said.message ?? '', /this root user may not become another: run Postroad as an ordinary user$/)
})

test('an ordinary user takes over its own folder that root used, not one of another', { skip: needsRoot }, async () => {
  const dataDir = aDataFolder()
  execFileSync('chown', ['-R', String(nobody), dataDir])
  const asRoot = await open(dataDir)
  await asRoot.stop()
  const server = await aServer(dataDir, { uid: nobody })
  assert.deepEqual(server.said, { open: true, started: true })
  await end(server.process)
  const foreign = aFolder()
  const refused = await aServer(foreign, { uid: nobody })
  assert.match(refused.said.message ?? '', /is not writable for this user: run as its owner, or set DATA_DIR/)
  const roots = aDataFolder()
  await (await open(roots)).stop()
  chownSync(roots, nobody, nobody)
  chownSync(join(roots, 'server.lock'), 0, 0)
  assert.match((await aServer(roots, { uid: nobody })).said.message ?? '', /server\.lock cannot be locked/)
})

test('disk full: a start says so, a running server too, and is back with room', { skip: needsRoot }, async () => {
  const disk = aFolder()
  execFileSync('/usr/bin/mount', ['-t', 'tmpfs', '-o', 'size=20m', 'tmpfs', disk])
  mounts.push(disk)
  chmodSync(disk, 0o755)
  await assert.rejects(open(disk), isOneLine(/^The disk that holds .* is full: free some space/))
  assert.deepEqual(readdirSync(disk).filter((name) => name.startsWith('postgres.new')), [])
  execFileSync('/usr/bin/mount', ['-o', 'remount,size=100m', disk])

  const lines: string[] = []
  const back: string[] = []
  const postgres = await open(disk, { log: (line) => back.push(line) })
  postgres.onExit((line) => lines.push(line))
  const ballast = join(disk, 'ballast')
  const { bavail, bsize } = statfsSync(disk)
  writeFileSync(ballast, Buffer.alloc(bavail * bsize - 4 * 1024 * 1024))
  const db = connect(postgres)
  await db.run(sql`create table notes as select 'kept'::text as note`)
  await assert.rejects(db.run(sql`
    select pg_logical_emit_message(false, '', repeat('x', 1000000), true) from generate_series(1, 40)`))
  const closed = db.close()
  await until(() => lines.some((line) => /^The disk that holds .* is full/.test(line)))
  assert.match(lines[0] ?? '', /^PostgreSQL stopped unexpectedly \(.*\): .*No space left on device/)
  rmSync(ballast)
  await until(() => back.length > 0)
  assert.equal((await note(postgres)).note, 'kept')
  await closed
})
