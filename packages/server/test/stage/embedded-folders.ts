import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { after, afterEach, before } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { openDatabase, sql } from '../../src/platform/db.ts'
import type { Database, Sql } from '../../src/platform/db.ts'
import { openEmbeddedPostgres, StartError } from '../../src/platform/embedded-postgres.ts'
import type { EmbeddedPostgres, EmbeddedPostgresOptions } from '../../src/platform/embedded-postgres.ts'
import { placeOf } from '../../src/platform/postgres/place.ts'
import { bringDown, postmasterOf, runs } from '../../src/platform/postgres/postmaster.ts'

/** Data folders for an embedded PostgreSQL, the processes that open them, and their clean-up. */

const opened: EmbeddedPostgres[] = []
const children: ChildProcess[] = []
const folders: string[] = []
export const mounts: string[] = []
export const cleanings: (() => void)[] = []
/** The data folder that tests share when they leave it as they found it. */
let seed = ''
export const seedFolder = (): string => seed

/** A separate empty folder for a test. */
export function aFolder(under = tmpdir()): string {
  const folder = mkdtempSync(join(realpathSync(under), 'postroad-test-'))
  if (under === tmpdir()) chmodSync(folder, 0o755)
  folders.push(folder)
  return folder
}

/** A data folder with a database that has one row, copied from one that a server made. */
export function aDataFolder(name = 'data'): string {
  const dataDir = join(aFolder(), name)
  mkdirSync(dataDir)
  cpSync(join(seed, 'postgres'), join(dataDir, 'postgres'), { recursive: true })
  return dataDir
}

export async function open(dataDir: string, options: Partial<EmbeddedPostgresOptions> = {}): Promise<EmbeddedPostgres> {
  const postgres = await openEmbeddedPostgres({ dataDir, mode: 'own', ...options })
  opened.push(postgres)
  return postgres
}

export function connect(postgres: EmbeddedPostgres): Database {
  const target = postgres.connection
  return openDatabase({ target, connectionsMax: 1, applicationName: 'test', statementTimeoutMs: 20_000 })
}

export async function ask<Row extends object>(postgres: EmbeddedPostgres, query: Sql): Promise<Row> {
  const db = connect(postgres)
  try {
    return await db.one<Row>(query)
  } finally {
    await db.close()
  }
}

export const note = (postgres: EmbeddedPostgres): Promise<{ note: string }> =>
  ask(postgres, sql`select note from notes`)

export function pidOf(dataDir: string): number {
  const found = postmasterOf(placeOf(dataDir).folder)
  assert.ok(found, 'a postmaster.pid is there')
  return found.pid
}

export function uidOf(dataDir: string): number {
  return Number(/^Uid:\s+(\d+)/m.exec(readFileSync(`/proc/${pidOf(dataDir)}/status`, 'utf8'))?.[1])
}

type Said = { readonly open?: boolean; readonly started?: boolean; readonly error?: string; readonly message?: string }
type ServerOptions = { readonly mode?: string; readonly uid?: number; readonly wrapper?: readonly string[] }
type Server = { readonly process: ChildProcess; readonly said: Said }

// The process stops cleanly when its input ends, so that not even a killed test run leaves a server behind.
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
export async function aServer(dataDir: string, options: ServerOptions = {}): Promise<Server> {
  const { mode = 'own', uid, wrapper = [] } = options
  const url = new URL('../../src/platform/embedded-postgres.ts', import.meta.url).href
  const words = [...wrapper, process.execPath, '--input-type=module', '-e', PROGRAM, url, dataDir, mode]
  const as = uid === undefined ? {} : { uid, gid: uid }
  const child = spawn(words[0] ?? '', words.slice(1), { stdio: ['pipe', 'pipe', 'inherit'], ...as })
  children.push(child)
  const [line] = await once(createInterface(child.stdout), 'line')
  return { process: child, said: JSON.parse(String(line)) as Said }
}

export async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const gone = once(child, 'exit')
  child.stdin?.end()
  await gone
}

export async function kill(child: ChildProcess): Promise<void> {
  const gone = once(child, 'exit')
  child.kill('SIGKILL')
  await gone
}

export async function until(what: () => boolean, patienceMs = 15_000): Promise<void> {
  const deadline = performance.now() + patienceMs
  while (!what()) {
    assert.ok(performance.now() < deadline, `waited in vain for ${what.toString()}`)
    await sleep(10)
  }
}

export function isOneLine(pattern: RegExp): (error: unknown) => boolean {
  return (error) => {
    assert.ok(error instanceof StartError, String(error))
    assert.doesNotMatch(error.message, /\n/)
    assert.match(error.message, pattern)
    return true
  }
}

/** The stage that all tests of a file share: a seed to copy, and a clean-up of processes and folders after each. */
export function onDataFolders(): void {
  before(makeSeed)
  afterEach(endAll)
  after(() => rmSync(seed, { recursive: true, force: true }))
}

async function makeSeed(): Promise<void> {
  seed = aFolder()
  folders.pop()
  const postgres = await openEmbeddedPostgres({ dataDir: seed, mode: 'own' })
  const db = connect(postgres)
  await db.run(sql`create table notes as select 'kept'::text as note`)
  await db.close()
  await postgres.stop()
}

async function endAll(): Promise<void> {
  await Promise.all(opened.splice(0).map((postgres) => postgres.stop()))
  await Promise.all(children.splice(0).map(end))
  for (const clean of cleanings.splice(0)) clean()
  for (const folder of [seed, ...folders]) await stopLeftovers(folder)
  for (const mount of mounts.splice(0)) execFileSync('/usr/bin/umount', ['-l', mount])
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
}

/** Stops any PostgreSQL below a folder that a failed test left running. */
async function stopLeftovers(folder: string): Promise<void> {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  for (const found of files.filter((path) => path.endsWith('postmaster.pid'))) {
    const home = dirname(join(folder, found))
    const pid = postmasterOf(home)?.pid ?? 0
    await bringDown(pid, () => !runs(pid, home))
  }
}
