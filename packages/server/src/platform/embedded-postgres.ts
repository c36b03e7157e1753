import { accessSync, constants, mkdirSync } from 'node:fs'
import { resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { DATABASE, LOGIN, makeLogin, writeAccess } from './postgres/access.ts'
import { accountFor, giveTo } from './postgres/account.ts'
import { findBinaries } from './postgres/binaries.ts'
import { prepare } from './postgres/cluster.ts'
import { placeOf, PORT } from './postgres/place.ts'
import type { Place } from './postgres/place.ts'
import { clearTheWay, postmasterOf, runs } from './postgres/postmaster.ts'
import { holderOf, lockFileOf, tryLock } from './postgres/server-lock.ts'
import type { Lock, Mode } from './postgres/server-lock.ts'
import { fileError, StartError } from './postgres/start-error.ts'
import { supervise } from './postgres/supervise.ts'
import type { Watch } from './postgres/supervise.ts'

export { StartError } from './postgres/start-error.ts'

/** For the driver: `host` is the folder of the Unix socket. It stays the same when PostgreSQL restarts. */
export type Connection = {
  readonly host: string
  readonly port: number
  readonly database: string
  readonly username: string
}

export type EmbeddedPostgres = {
  readonly connection: Connection
  /** False when this process joined a PostgreSQL that another Postroad process runs. */
  readonly started: boolean
  /**
   * Stops the PostgreSQL that this process started (fast, after 10 s immediate) and unlocks the folder. Repeated calls have no
   * further effect.
   */
  stop(): Promise<void>
  /**
   * Calls the listener with one line for each unexpected end and each new reason why a restart fails; never for a joined
   * PostgreSQL.
   */
  onExit(listener: (line: string) => void): void
}

export type EmbeddedPostgresOptions = {
  readonly dataDir: string
  /** `own`: be the only Postroad server here. `join`: use the running PostgreSQL, or start one until `stop()`. */
  readonly mode: Mode
  /** PostgreSQL settings that override our tuning. Durability and privacy settings cannot be changed. */
  readonly settings?: Readonly<Record<string, string>>
  readonly log?: (line: string) => void
  /** A packed cluster for a folder without data, instead of a new one by initdb; undefined: there is none. */
  readonly readyMade?: () => Buffer | undefined
  /** Called when the first program of PostgreSQL runs: the time for work of this process. */
  readonly meanwhile?: (() => void) | undefined
}

const ownPatienceMs = 10_000
const joinPatienceMs = 30_000
const pollMs = 25

/**
 * Opens the PostgreSQL of a data folder, creates it on the first call, and runs it until `stop()`. Resolves when it
 * accepts connections. A StartError is one line with the reason and the remedy.
 */
export async function openEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const place = makePlace(options.dataDir)
  const lock = options.mode === 'own' ? await lockToOwn(place) : await lockToJoin(place)
  if ('socketDir' in lock) return joined(lock.socketDir)
  try {
    return await start(place, { ...options, lock })
  } catch (error) {
    lock.release()
    throw error
  }
}

type Held = EmbeddedPostgresOptions & { readonly lock: Lock }

async function start(place: Place, options: Held): Promise<EmbeddedPostgres> {
  const { lock, settings = {}, log = () => undefined } = options
  const listeners = new Set<(line: string) => void>()
  const report = (line: string): void => {
    for (const listener of listeners) listener(line)
  }
  const site = { ...place, account: accountFor(place), binaries: findBinaries() }
  giveTo(site.account, lockFileOf(place.dataDir))
  if (await clearTheWay(place)) log('Stopped the PostgreSQL that a killed Postroad server had left running')
  const watch = { site, settings, report, log }
  let isAway = false
  const meanwhile = (): void => {
    if (!isAway) options.meanwhile?.()
    isAway = true
  }
  const { isOlder } = await prepare(site, { meanwhile, readyMade: options.readyMade })
  if (isOlder) await takeOver(watch)
  const supervising = supervise(watch)
  meanwhile()
  const supervised = await supervising
  let stopping: Promise<void> | undefined
  return {
    connection: connectionTo(place.socketDir),
    started: true,
    stop: () =>
      (stopping ??= supervised.stop().finally(() => {
        lock.release()
      })),
    onExit: (listener) => {
      listeners.add(listener)
    },
  }
}

/** Runs the data of an earlier version once with its superuser allowed, to create a login that is not a superuser. */
async function takeOver(watch: Watch): Promise<void> {
  const supervised = await supervise(watch)
  try {
    await makeLogin(watch.site)
  } finally {
    await supervised.stop()
  }
  writeAccess(watch.site, { setup: false })
  watch.log('Gave the data of an earlier version a login that is not a superuser')
}

function joined(socketDir: string): EmbeddedPostgres {
  return { connection: connectionTo(socketDir), started: false, stop: () => Promise.resolve(), onExit: () => undefined }
}

/** The lock for a server. It waits for a command that uses the folder for a moment, but not for another server. */
async function lockToOwn({ dataDir }: Place): Promise<Lock> {
  const end = performance.now() + ownPatienceMs
  for (;;) {
    const lock = tryLock(dataDir, 'own')
    if (lock !== undefined) return lock
    const holder = holderOf(dataDir)
    if (holder?.mode === 'own' || performance.now() > end) throw inUse(dataDir)
    await sleep(pollMs)
  }
}

/** The lock when nobody runs PostgreSQL here, otherwise the socket of the running server once it accepts connections. */
async function lockToJoin({ dataDir, folder }: Place): Promise<Lock | { readonly socketDir: string }> {
  const end = performance.now() + joinPatienceMs
  for (;;) {
    const lock = tryLock(dataDir, 'join')
    if (lock !== undefined) return lock
    const running = postmasterOf(folder)
    if (holderOf(dataDir)?.mode === 'own' && running?.ready === true && runs(running.pid, folder)) return running
    if (performance.now() > end) throw inUse(dataDir)
    await sleep(pollMs)
  }
}

function inUse(dataDir: string): StartError {
  const holder = holderOf(dataDir)
  const who = holder === undefined ? '' : ` (process ${holder.pid})`
  const what = `${dataDir} is in use by another Postroad server${who}`
  return new StartError(`${what}: stop it, or set DATA_DIR to another folder`)
}

function makePlace(dataDir: string): Place {
  try {
    mkdirSync(resolve(dataDir), { recursive: true })
    accessSync(dataDir, constants.W_OK | constants.X_OK)
    return placeOf(dataDir)
  } catch (error) {
    throw fileError(error, dataDir)
  }
}

function connectionTo(host: string): Connection {
  return { host, port: PORT, database: DATABASE, username: LOGIN }
}
