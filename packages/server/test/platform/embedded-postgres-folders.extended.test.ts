import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statfsSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import {
  aDataFolder,
  aFolder,
  aServer,
  ask,
  cleanings,
  connect,
  end,
  isOneLine,
  kill,
  mounts,
  note,
  onDataFolders,
  open,
  pidOf,
  seedFolder,
  uidOf,
  until,
} from '../stage/embedded-folders.ts'
import { sql } from '../../src/platform/db.ts'
import { nameOf } from '../../src/platform/postgres/account.ts'
import { placeOf } from '../../src/platform/postgres/place.ts'
import { runs } from '../../src/platform/postgres/postmaster.ts'

const isRoot = process.getuid?.() === 0
const needsRoot = isRoot ? false : 'SKIPPED, NOT PROVED HERE: this needs root'
const nobody = 65534

onDataFolders()

test('data that is damaged, or comes from another version or program, is refused with the remedy and left unchanged', async () => {
  const older = aFolder()
  mkdirSync(join(older, 'postgres'))
  writeFileSync(join(older, 'postgres', 'PG_VERSION'), '16\n')
  await assert.rejects(open(older), isOneLine(/was created by PostgreSQL 16, .*pg_dump/))
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

test('a refused start releases the folder', async () => {
  const dataDir = seedFolder()
  const settings = { shared_buffers: 'much' }
  await assert.rejects(open(dataDir, { settings }), isOneLine(/"shared_buffers": "much".*its log is/))
  assert.equal((await note(await open(dataDir))).note, 'kept')
})

test('a path that is too long for a socket gets a short socket folder, which no other user can prepare', async () => {
  const dataDir = aDataFolder('läng '.repeat(40))
  const { socketDir } = placeOf(dataDir)
  cleanings.push(() => {
    rmSync(socketDir, { recursive: true, force: true })
  })
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

test(
  'root: PostgreSQL runs as the owner of the data folder, or else as a separate user id',
  { skip: needsRoot },
  async () => {
    const plain = aDataFolder('with , "comma')
    assert.equal((await note(await open(plain))).note, 'kept')
    assert.equal(nameOf(uidOf(plain)), undefined)
    const owned = aDataFolder()
    chownSync(owned, 2, 2)
    assert.equal((await note(await open(owned))).note, 'kept')
    assert.equal(uidOf(owned), 2)
  },
)

test(
  'root: the server works below a closed folder, with spaces and any letters in the path',
  { skip: needsRoot },
  async () => {
    const closed = aFolder(homedir())
    assert.equal(statSync(closed).mode & 0o777, 0o700)
    const dataDir = join(closed, 'Daten für später', 'データ')
    for (let round = 0; round < 2; round++) {
      const postgres = await open(dataDir)
      await ask(postgres, sql`select 1 as one`)
      assert.match(readFileSync(`/proc/${pidOf(dataDir)}/status`, 'utf8'), /^Uid:\s+(?!0\s)(\d+)\s+\1\s/m)
      await postgres.stop()
    }
    const server = await aServer(dataDir)
    const orphan = pidOf(dataDir)
    await kill(server.process)
    await open(dataDir)
    assert.equal(runs(orphan, placeOf(dataDir).folder), false)
  },
)

test('root without the right to enter folders or to change its user gets the remedy', { skip: needsRoot }, async () => {
  const dataDir = join(aFolder(homedir()), 'data')
  const { said } = await aServer(dataDir, { wrapper: ['setpriv', '--bounding-set=-dac_override', '--'] })
  assert.equal(said.error, 'StartError')
  assert.match(said.message ?? '', /^PostgreSQL refuses to run as root.*set DATA_DIR to a folder that others can enter/)
  const noChown = { wrapper: ['setpriv', '--bounding-set=-chown', '--'] }
  const { said: unowned } = await aServer(join(aFolder(), 'data'), noChown)
  assert.match(unowned.message ?? '', /this root user cannot become another user: run Postroad as an ordinary user$/)
  const bare = await aServer(join(aFolder(), 'data'), { wrapper: ['setpriv', '--bounding-set=-setuid,-setgid', '--'] })
  assert.match(bare.said.message ?? '', /this root user cannot become another user: run Postroad as an ordinary user$/)
})

test(
  'an ordinary user takes over their own folder that root used, and no folder of another user',
  { skip: needsRoot },
  async () => {
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
  },
)

test(
  'disk full: a start reports it, a running server reports it too, and recovers when there is room',
  { skip: needsRoot },
  async () => {
    const disk = aFolder()
    execFileSync('/usr/bin/mount', ['-t', 'tmpfs', '-o', 'size=20m', 'tmpfs', disk])
    mounts.push(disk)
    chmodSync(disk, 0o755)
    await assert.rejects(open(disk), isOneLine(/^The disk of .* is full: free some space/))
    assert.deepEqual(
      readdirSync(disk).filter((name) => name.startsWith('postgres.new')),
      [],
    )
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
    await assert.rejects(
      db.run(sql`
    select pg_logical_emit_message(false, '', repeat('x', 1000000), true) from generate_series(1, 40)`),
    )
    const closed = db.close()
    await until(() => lines.some((line) => /^The disk of .* is full/.test(line)))
    assert.match(lines[0] ?? '', /^PostgreSQL stopped unexpectedly \(.*\): .*No space left on device/)
    rmSync(ballast)
    await until(() => back.length > 0)
    assert.equal((await note(postgres)).note, 'kept')
    await closed
  },
)
