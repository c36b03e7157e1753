import { ConfigError, readConfig, type Config } from './config.ts'
import { createApp, type App, type AppOptions } from './app.ts'
import { DbError, openDatabase, type Database } from './platform/db.ts'
import { StartError } from './platform/embedded-postgres.ts'
import { createLog, type Log } from './platform/log.ts'
import { findDueMigrations, migrate } from './platform/migrate.ts'
import { endEveryLease } from './platform/leases.ts'
import { makeDays } from './platform/partitions.ts'
import { bindToPolicies } from './platform/row-security.ts'
import { databaseNow } from './platform/server-facts.ts'
import { anchorChains } from './resources/workspace/audit/index.ts'
import { endEveryOwner } from './pipeline/deliver/lanes/owners/queries.ts'
import { checkDurability, checkKeys, checkPolicies, checkReachable, openStorage, type Storage } from './storage.ts'
import { DAY_TABLES } from './workers/upkeep.ts'

export const MIGRATIONS = new URL('../migrations/', import.meta.url)
/** The migration that introduced anchors. They are sealed, so SQL cannot create them. */
const ANCHORS = '0020_audit_anchors.sql'

export type Booted = { readonly app: App; readonly storage: Storage; readonly config: Config; readonly log: Log }

/** Starts everything below the surfaces: settings, storage, schema, the parts. The caller starts the app, or only uses it. */
export async function boot(
  environment: Readonly<Record<string, string | undefined>>,
  options: Pick<
    AppOptions,
    'commit' | 'rejections' | 'outbound' | 'links' | 'linkBudget' | 'heavy' | 'work' | 'resolver'
  > & {
    readonly mode: 'own' | 'join'
    readonly makes?: boolean
  },
): Promise<Booted> {
  const config = readConfig(environment)
  const log = createLog({
    level: config.LOG_LEVEL,
    format: config.LOG_FORMAT ?? (process.stderr.isTTY ? 'text' : 'json'),
  })
  const opened = await openStorage(config, { mode: options.mode, makes: options.makes, log })
  try {
    // This process has locked the folder, so any earlier sender is dead, and its lanes need not wait until their leases expire.
    const isHeir = options.mode === 'own' && config.DATABASE_URL === undefined
    await checkUsable(opened, log)
    const storage = {
      ...opened,
      target: await bindToPolicies(opened.target, (cause) => log.warn('postgres.role_not_made', { cause })),
    }
    await prepare(storage, { log, isHeir, makes: options.makes ?? true })
    const { mode: _mode, makes: _makes, ...plants } = options
    return { app: createApp({ config, storage, log, ...plants }), storage, config, log }
  } catch (error) {
    await opened.stop()
    throw error
  }
}

/** Checks that PostgreSQL is reachable and new enough. Logs an error if its settings can lose data. */
async function checkUsable({ target }: Storage, log: Log): Promise<void> {
  const database = openDatabase({
    target,
    connectionsMax: 1,
    applicationName: 'postroad boot',
    statementTimeoutMs: 60_000,
  })
  try {
    await checkReachable(database)
    await checkDurability(database, log)
  } finally {
    await database.close()
  }
}

/**
 * Prepares the schema of this release, checks its keys, and creates the tables of the days around now. Logs an error if
 * policies do not bind the server. `makes: false` changes nothing: it refuses a schema of an older release.
 */
async function prepare(
  storage: Storage,
  { log, isHeir, makes }: { readonly log: Log; readonly isHeir: boolean; readonly makes: boolean },
): Promise<void> {
  const database = openDatabase({
    target: storage.target,
    connectionsMax: 1,
    applicationName: 'postroad boot',
    statementTimeoutMs: 60_000,
  })
  try {
    await checkPolicies(database, log)
    if (!makes) {
      await checkSchema(database)
      return await checkKeys(database, storage)
    }
    const ran = await migrate(storage.target, MIGRATIONS)
    await checkKeys(database, storage)
    if (ran.includes(ANCHORS)) await anchorChains(database, storage.cipher)
    await makeDaysIfFree(database, log)
    if (isHeir) await Promise.all([endEveryOwner(database), endEveryLease(database)])
  } finally {
    await database.close()
  }
}

/** A command beside the server must not change the schema while a server of an older release uses it. */
async function checkSchema(database: Database): Promise<void> {
  const due = await findDueMigrations(database, MIGRATIONS)
  if (due.length === 0) return
  const [count, run] = due.length === 1 ? ['1 migration', 'it has'] : [`${due.length} migrations`, 'they have']
  throw new StartError(
    `This release changes the database (${count}, from ${due[0]}), and ${run} not run. Start the server of this release once, and then repeat the command.`,
  )
}

/**
 * If a long transaction of another node blocks this, upkeep creates the days. Rows that come before then go into the default
 * partition.
 */
async function makeDaysIfFree(database: Database, log: Log): Promise<void> {
  try {
    await makeDays(database, DAY_TABLES, { now: await databaseNow(database), daysAhead: 3 })
  } catch (cause) {
    if (!(cause instanceof DbError) || !cause.unavailable) throw cause
    log.warn('boot.days_not_made', { cause })
  }
}

/** The message when the start fails: one line for an expected error, everything for an unexpected one. */
export function startFailure(error: unknown): string {
  if (error instanceof ConfigError || error instanceof StartError) return `postroad: ${error.message}`
  return `postroad: could not start: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`
}
