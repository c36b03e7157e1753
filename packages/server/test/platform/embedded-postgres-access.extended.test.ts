import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { chmodSync, chownSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import {
  aDataFolder,
  aFolder,
  aServer,
  ask,
  connect,
  end,
  note,
  onDataFolders,
  open,
  pidOf,
  uidOf,
} from '../stage/embedded-folders.ts'
import { sql } from '../../src/platform/db.ts'
import { commandFor, makerFor, nameOf, run } from '../../src/platform/postgres/account.ts'
import { findBinaries } from '../../src/platform/postgres/binaries.ts'
import { placeOf, socketPath } from '../../src/platform/postgres/place.ts'

const isRoot = process.getuid?.() === 0
const needsRoot = isRoot ? false : 'SKIPPED, NOT PROVED HERE: this needs root'
const NOBODY = 65_534

onDataFolders()

/** The result of a connection as `username` from a process of another user of the machine. */
function connectAs(uid: number, dataDir: string, username: string): string {
  const { socketDir } = placeOf(dataDir)
  const program = `
    const { openDatabase, sql } = await import(${JSON.stringify(new URL('../../src/platform/db.ts', import.meta.url).href)})
    const target = { host: ${JSON.stringify(socketDir)}, port: 5432, database: 'postroad', username: ${JSON.stringify(username)} }
    const db = openDatabase({ target, connectionsMax: 1, applicationName: 'stranger', statementTimeoutMs: 5000 })
    try { console.log((await db.one(sql\`select current_user as me\`)).me) } catch (error) { console.log(error.message) }
    process.exit()`
  return execFileSync(process.execPath, ['--input-type=module', '-e', program], {
    uid,
    gid: uid,
    encoding: 'utf8',
  }).trim()
}

/**
 * Turns a data folder into one of the version before this one: the tables belong to the superuser, and every user is
 * trusted.
 */
async function makeOlder(dataDir: string, uid: number): Promise<void> {
  const place = placeOf(dataDir)
  chmodSync(place.folder, 0o700)
  const account = isRoot ? { uid: NOBODY, gid: NOBODY, name: 'nobody' } : undefined
  if (account !== undefined) execFileSync('chown', ['-R', String(account.uid), place.folder])
  const single = ['--single', '-D', place.folder, '-c', 'exit_on_error=on', 'postroad']
  const input = [
    'reassign owned by postroad_server to postroad',
    'alter database postroad owner to postroad',
    'drop owned by postroad_server',
    'drop role postroad_server',
    '',
  ].join('\n')
  const command = commandFor({ file: findBinaries().postgres, args: single }, { ...place, account })
  await run(command, { place, input })
  writeFileSync(join(place.folder, 'pg_hba.conf'), 'local all all trust\n')
  writeFileSync(join(place.folder, 'pg_ident.conf'), '')
  if (account !== undefined) execFileSync('chown', ['-R', String(uid), place.folder])
}

test('the login of the product is not a superuser: it cannot run a program, read a file or become a superuser', async () => {
  const dataDir = aDataFolder()
  const postgres = await open(dataDir)
  const proof = join(aFolder(), 'proof')
  const me = await ask(
    postgres,
    sql`
    select current_user::text as name, rolsuper, rolcreaterole, rolcreatedb, rolreplication, rolbypassrls
      from pg_roles where rolname = current_user`,
  )
  assert.deepEqual(
    { ...me },
    {
      name: 'postroad_server',
      rolsuper: false,
      rolcreaterole: false,
      rolcreatedb: false,
      rolreplication: false,
      rolbypassrls: false,
    },
  )
  for (const text of [
    `copy (select 1) to program 'touch ${proof}'`,
    `copy (select 1) to '${proof}'`,
    `select pg_read_file('pg_hba.conf')`,
    `alter role postroad_server superuser`,
    `set role postroad`,
    `set session authorization postroad`,
    `alter system set fsync to off`,
  ]) {
    await assert.rejects(
      ask(postgres, { strings: [text], values: [] }),
      /permission denied|must be superuser|must have/i,
      text,
    )
  }
  assert.equal(existsSync(proof), false)
})

test('not even the server itself can connect as the superuser, or to another database', async () => {
  const postgres = await open(aDataFolder())
  for (const other of [{ username: 'postroad' }, { database: 'postgres' }]) {
    const db = connect({ ...postgres, connection: { ...postgres.connection, ...other } })
    await assert.rejects(db.one(sql`select 1 as one`), /no pg_hba\.conf entry/)
    await db.close()
  }
})

test(
  'another user of the machine cannot connect, even when the folder is open to all',
  { skip: needsRoot },
  async () => {
    const dataDir = aDataFolder()
    await open(dataDir)
    for (const name of ['postroad', 'postroad_server']) assert.match(connectAs(NOBODY, dataDir, name), /EACCES/)
    // Even when the folder and the socket are open to all, PostgreSQL asks the system for the user of the client.
    const { socketDir } = placeOf(dataDir)
    chmodSync(socketDir, 0o777)
    chmodSync(socketPath(socketDir), 0o777)
    assert.match(connectAs(NOBODY, dataDir, 'postroad_server'), /Peer authentication failed/)
    assert.match(connectAs(NOBODY, dataDir, 'postroad'), /no pg_hba\.conf entry/)
  },
)

test(
  'root: PostgreSQL runs under a user id without an account, the same id at each start and another for each folder',
  {
    skip: needsRoot,
  },
  async () => {
    const [one, two] = [join(aFolder(), 'data'), join(aFolder(), 'data')]
    const uids: number[] = []
    for (const dataDir of [one, one, two]) {
      const postgres = await open(dataDir)
      uids.push(uidOf(dataDir))
      assert.equal(statSync(join(dataDir, 'postgres')).uid, uidOf(dataDir))
      assert.match(readFileSync(`/proc/${pidOf(dataDir)}/status`, 'utf8'), /^Groups:\s*$/m)
      await postgres.stop()
    }
    const [first, again, other] = uids
    assert.ok(first !== undefined && other !== undefined)
    assert.equal(nameOf(first), undefined)
    assert.equal(again, first)
    assert.notEqual(other, first)
    assert.equal(
      makerFor({ uid: first, gid: first, name: undefined })?.uid,
      NOBODY,
      'initdb needs a user name, and there is none to borrow',
    )
  },
)

test('root: a previous owner loses access to the data folder and the socket folder', { skip: needsRoot }, async () => {
  const dataDir = aDataFolder()
  execFileSync('chown', ['-R', String(NOBODY), join(dataDir, 'postgres')])
  mkdirSync(join(dataDir, 'run'))
  chownSync(join(dataDir, 'run'), NOBODY, NOBODY)
  const postgres = await open(dataDir)
  assert.equal((await note(postgres)).note, 'kept')
  const theirs = execFileSync('find', [dataDir, '-uid', String(NOBODY)], { encoding: 'utf8' })
  assert.equal(theirs, '')
  const long = aDataFolder('long '.repeat(40))
  const { socketDir } = placeOf(long)
  execFileSync('chown', ['-R', String(NOBODY), join(long, 'postgres')])
  mkdirSync(socketDir)
  chownSync(socketDir, NOBODY, NOBODY)
  const aside = `${socketDir}.previous-${process.pid}`
  try {
    assert.equal((await note(await open(long))).note, 'kept')
    assert.equal(statSync(aside).uid, NOBODY)
    assert.equal(statSync(socketDir).uid, uidOf(long))
  } finally {
    rmSync(aside, { recursive: true, force: true })
    rmSync(socketDir, { recursive: true, force: true })
  }
})

test('data of an earlier version gets the login at its first start, and behaves like any other data afterwards', async () => {
  const dataDir = aDataFolder()
  await makeOlder(dataDir, isRoot ? NOBODY : (process.getuid?.() ?? 0))
  const lines: string[] = []
  for (let round = 0; round < 2; round += 1) {
    const postgres = await open(dataDir, { log: (line) => lines.push(line) })
    assert.equal((await note(postgres)).note, 'kept')
    const facts = await ask(
      postgres,
      sql`
      select current_user::text as me, (select pg_get_userbyid(relowner) from pg_class where relname = 'notes') as owner,
             (select pg_get_userbyid(datdba) from pg_database where datname = 'postroad') as holder`,
    )
    assert.deepEqual({ ...facts }, { me: 'postroad_server', owner: 'postroad_server', holder: 'postroad_server' })
    const db = connect({ ...postgres, connection: { ...postgres.connection, username: 'postroad' } })
    await assert.rejects(db.one(sql`select 1 as one`), /no pg_hba\.conf entry/)
    await db.close()
    await postgres.stop()
  }
  assert.deepEqual(lines, ['Gave the data of an earlier version a login that is not a superuser'])
})

test('a start completes a conversion of older data that an interrupted start left behind', async () => {
  const dataDir = aDataFolder()
  const { folder } = placeOf(dataDir)
  await makeOlder(dataDir, isRoot ? 0 : (process.getuid?.() ?? 0))
  const setup = ['local postroad postroad_server peer map=server', 'local postroad postroad peer map=setup', '']
  writeFileSync(join(folder, 'pg_hba.conf'), setup.join('\n'))
  assert.equal((await note(await open(dataDir))).note, 'kept')
  assert.doesNotMatch(readFileSync(join(folder, 'pg_hba.conf'), 'utf8'), /setup/)
})

test('an ordinary user gets the same login by the same proof', { skip: needsRoot }, async () => {
  const uid = 1
  const dataDir = join(aFolder(), 'data')
  mkdirSync(dataDir)
  chownSync(dataDir, uid, uid)
  const server = await aServer(dataDir, { uid })
  assert.deepEqual(server.said, { open: true, started: true })
  assert.equal(uidOf(dataDir), uid)
  assert.equal(connectAs(uid, dataDir, 'postroad_server'), 'postroad_server')
  assert.match(connectAs(uid, dataDir, 'postroad'), /no pg_hba\.conf entry/)
  // Root can become any user, so a command that root runs beside the server works.
  const guest = await open(dataDir, { mode: 'join' })
  assert.equal(guest.started, false)
  assert.equal((await ask<{ me: string }>(guest, sql`select current_user::text as me`)).me, 'postroad_server')
  await end(server.process)
})

test('a user without a name is refused in one line with the remedy', { skip: needsRoot }, async () => {
  const dataDir = join(aFolder(), 'data')
  mkdirSync(dataDir)
  chownSync(dataDir, 1_234_567, 1_234_567)
  const { said } = await aServer(dataDir, { uid: 1_234_567 })
  assert.match(said.message ?? '', /^User 1234567 has no name on this system and PostgreSQL needs one: add it/)
})
