import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Config } from './config.ts'
import { createCipher, type Cipher } from './platform/cipher.ts'
import type { Database, DatabaseTarget } from './platform/db.ts'
import { openEmbeddedPostgres, StartError } from './platform/embedded-postgres.ts'
import { openKeyFile, type KeyFile } from './platform/key-file.ts'
import type { Log } from './platform/log.ts'
import { validateRowSecurity } from './platform/row-security.ts'
import { readyMadeCluster } from './ready-made.ts'
import { serverVersion, unsafeSettings } from './platform/server-facts.ts'
import { sealedByOthers } from './resources/operate/key-ring/index.ts'

/** The location of the data, and the keys that seal its secrets: from the environment, or from a file in the data folder. */
export type Storage = {
  readonly target: DatabaseTarget
  readonly cipher: Cipher
  readonly keyFile?: KeyFile
  stop(): Promise<void>
}

/**
 * Your PostgreSQL when `DATABASE_URL` names one, otherwise the embedded one in `DATA_DIR`. `own`: used by the server. `join`:
 * used by a command beside a running server. `makes: false`: the command must create no database and change no schema. A
 * StartError is one line with the remedy.
 */
export async function openStorage(
  config: Config,
  options: { mode: 'own' | 'join'; makes?: boolean | undefined; log: Log; meanwhile?: (() => void) | undefined },
): Promise<Storage> {
  if (config.DATABASE_URL !== undefined) {
    const target = { url: config.DATABASE_URL.reveal() }
    return { target, ...keysOf(config), stop: () => Promise.resolve() }
  }
  if (options.makes === false && !existsSync(join(config.DATA_DIR, 'postgres'))) {
    throw new StartError(
      `There is no database in ${resolve(config.DATA_DIR)}. Set DATA_DIR to the folder of the server, or DATABASE_URL.`,
    )
  }
  const postgres = await openEmbeddedPostgres({
    dataDir: config.DATA_DIR,
    mode: options.mode,
    readyMade: readyMadeCluster,
    meanwhile: options.meanwhile,
    log: (line) => options.log.debug('postgres.said', { line }),
  })
  postgres.onExit((line) => options.log.error('postgres.exited', { line }))
  try {
    return { target: postgres.connection, ...keysOf(config), stop: () => postgres.stop() }
  } catch (error) {
    await postgres.stop()
    throw error
  }
}

/** `SECRET_KEY_PREVIOUS` can be used with either, and need not be the older key. */
function keysOf(config: Config): Pick<Storage, 'cipher' | 'keyFile'> {
  const previous =
    config.SECRET_KEY_PREVIOUS === undefined ? [] : [Buffer.from(config.SECRET_KEY_PREVIOUS.reveal(), 'base64')]
  if (config.SECRET_KEY !== undefined)
    return { cipher: createCipher([Buffer.from(config.SECRET_KEY.reveal(), 'base64'), ...previous]) }
  const keyFile = openKeyFile(config.DATA_DIR)
  const ofFile = keyFile.keys
  return { cipher: createCipher(previous.length === 0 ? ofFile : () => [...ofFile(), ...previous]), keyFile }
}

/**
 * A 201 means durable only if PostgreSQL's settings are durable. Logs an error for each setting that breaks the promise, and
 * returns these settings.
 */
export async function checkDurability(database: Database, log: Log): Promise<readonly string[]> {
  const unsafe = await unsafeSettings(database)
  for (const setting of unsafe) {
    log.error('postgres.not_durable', { setting, meaning: 'Events answered 201 can be lost. Set it to on.' })
  }
  return unsafe
}

/** Row-level security is the second wall between tenants. Logs an error if it does not bind our user, and returns the reason. */
export async function checkPolicies(database: Database, log: Log): Promise<string | undefined> {
  const why = await validateRowSecurity(database)
  if (why !== undefined) log.error('postgres.policies_bypassed', { meaning: `${why} ${BIND_REMEDY}` })
  return why === undefined ? undefined : `${why} ${BIND_REMEDY}`
}

const BIND_REMEDY =
  'In DATABASE_URL, use an ordinary user that owns the tables, or a user that can create the role postroad_server.'

const VERSION_MIN = 150_000

/** Reports in one clear line a PostgreSQL that cannot be used at all. */
export async function checkReachable(database: Database): Promise<void> {
  const version = await serverVersion(database).catch((error: unknown) => {
    const why = error instanceof Error ? error.message : String(error)
    throw new StartError(
      `The PostgreSQL of DATABASE_URL cannot be used: ${why}. Check the host, port, user, password and database in it.`,
      { cause: error },
    )
  })
  if (version < VERSION_MIN)
    throw new StartError(
      `The PostgreSQL of DATABASE_URL is version ${Math.floor(version / 10_000)}; Postroad needs 15 or newer.`,
    )
}

/** Refuses to start with keys that cannot open the sealed secrets. Otherwise the server would fail later, request by request. */
export async function checkKeys(
  database: Database,
  { cipher, keyFile }: Pick<Storage, 'cipher' | 'keyFile'>,
): Promise<void> {
  // While a key is being replaced, the first result may be older than the current keys, so the check runs twice.
  if ((await sealedByOthers(database, cipher.keyIds)).length === 0) return
  const found = await sealedByOthers(database, cipher.keyIds)
  if (found.length === 0) return
  const count = found.reduce((sum, row) => sum + row.count, 0)
  const columns = [...new Set(found.map((row) => row.column))].join(', ')
  const remedy =
    keyFile === undefined
      ? 'Set SECRET_KEY to the key that sealed them, or SECRET_KEY_PREVIOUS to it while you replace it.'
      : `Restore ${keyFile.path} from a backup, or set SECRET_KEY_PREVIOUS to the key that sealed them.`
  throw new StartError(
    `${count} secrets in the database (${columns}) were sealed by a key that this server does not have, so it cannot read them. ${remedy}`,
  )
}
