import assert from 'node:assert/strict'
import { test } from 'node:test'
import { spawnError } from './account.ts'
import { findBinaries } from './binaries.ts'
import { explain, fileError, lastWords, StartError, StillInUse } from './start-error.ts'

const where = { dataDir: '/d', folder: '/d/postgres', logFile: '/d/postgres.log' }

// Real messages of the programs, and the message that a person gets instead.
const SAID: readonly (readonly [string, RegExp])[] = [
  [
    'FATAL:  could not write lock file "postmaster.pid": No space left on device',
    /^The disk of \/d is full: free some space/,
  ],
  [
    'initdb: error: could not create directory "/d/postgres.new-1/base": Disk quota exceeded',
    /^The disk of \/d is full/,
  ],
  [
    'FATAL:  could not extend file "base/1/2691": wrote only 4096 of 8192 bytes\nHINT:  Check free disk space.',
    /^The disk of \/d is full/,
  ],
  [
    'setpriv: cap_dac_override: Operation not permitted',
    /refuses to run as root.*set DATA_DIR to a folder that others can enter/,
  ],
  [
    'DETAIL:  The data directory was initialized by PostgreSQL version 17, which is not compatible with this one.',
    /created by PostgreSQL 17, /,
  ],
  [
    'FATAL:  pre-existing shared memory block (key 1, ID 2) is still in use',
    /^\/d\/postgres is still in use by another PostgreSQL process: stop/,
  ],
  ['FATAL:  lock file "postmaster.pid" already exists', /is still in use by another PostgreSQL process/],
  ['FATAL:  could not create shared memory segment: No space left on devicx', /could not get shared memory .*shm-size/],
  ['FATAL:  could not map anonymous shared memory: Cannot allocate memory', /could not get shared memory/],
  ['FATAL:  could not create any Unix-domain sockets', /could not create its socket/],
  [
    'initdb: error: could not look up effective user ID 1234: user does not exist',
    /^User 1234 has no name on this system/,
  ],
  [
    'postgres: error while loading shared libraries: libicuuc.so.60: cannot open shared object file',
    /start Postroad once as the user that installed it.*or set DATABASE_URL/,
  ],
  [
    'FATAL:  could not open file "postgresql.conf": Permission denied',
    /cannot access its files .*give \/d to the user/,
  ],
  ['PANIC:  could not locate a valid checkpoint record at 0/1', /damaged .*restore a backup/],
  ['FATAL:  could not open directory "pg_notify": No such file or directory', /damaged/],
  [
    'FATAL:  unrecognized configuration parameter "x"',
    /^PostgreSQL did not start \(unrecognized configuration parameter "x"\): its log is \/d\/postgres\.log$/,
  ],
]

const ORDINARY = '2026-01-02 03:04:05.678 UTC [9] LOG:  listening on Unix socket "/d/run/.s.PGSQL.5432"\n'

test('each message of PostgreSQL becomes one line with the remedy and without its date', () => {
  for (const [said, expected] of SAID) {
    const { message } = explain(`${ORDINARY}2026-01-02 03:04:05.679 UTC [9] ${said}\n`, where)
    assert.match(message, expected)
    assert.doesNotMatch(message, /\n|2026|FATAL|PANIC/)
  }
})

test('only ending processes of the old server are worth a wait', () => {
  const leftovers = 'FATAL:  pre-existing shared memory block (key 1, ID 2) is still in use'
  assert.ok(explain(leftovers, where) instanceof StillInUse)
  assert.ok(!(explain('FATAL:  lock file "postmaster.pid" already exists', where) instanceof StillInUse))
})

test('the last words are the most severe line, otherwise the last line, otherwise a note that there was no line', () => {
  assert.equal(lastWords('PANIC:  no room\nLOG:  database system is shut down\n'), 'no room')
  assert.equal(lastWords('LOG:  received fast shutdown request\n'), 'received fast shutdown request')
  assert.equal(lastWords(''), 'it said nothing')
})

test('a refusal of the file system becomes one line with its path, and any other error passes through', () => {
  for (const code of ['ENOSPC', 'EDQUOT', 'EACCES', 'EPERM', 'EROFS', 'ENOTDIR', 'EEXIST', 'ENAMETOOLONG', 'EIO']) {
    const expected = fileError(Object.assign(new Error('x'), { code }), '/d')
    assert.ok(expected instanceof StartError)
    assert.match(expected.message, /\/d .*: .+/)
  }
  const bug = new TypeError('a bug')
  assert.equal(fileError(bug, '/d'), bug)
})

test('the error on a machine without usable binaries names DATABASE_URL', () => {
  const missing = Object.assign(new Error('x'), { code: 'ENOENT' })
  assert.throws(() => findBinaries('win32-x64'), /no embedded PostgreSQL for win32-x64.*DATABASE_URL/)
  assert.throws(() => findBinaries('linux-riscv64'), /StartError: .* for linux-riscv64.*npm install.*DATABASE_URL/)
  assert.match(spawnError(missing, '/bin/postgres').message, /cannot run on this system .*DATABASE_URL/)
  assert.match(spawnError(missing, 'setpriv').message, /without setpriv .*set DATA_DIR/)
})
