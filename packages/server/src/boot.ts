import { ConfigError, readConfig, type Config } from './config.ts'
import { createApp, type App, type AppOptions } from './app.ts'
import { DbError, openDatabase, type Database } from './platform/db.ts'
import { StartError } from './platform/embedded-postgres.ts'
import { createLog, type Log } from './platform/log.ts'
import { migrate } from './platform/migrate.ts'
import { endEveryLease } from './platform/leases.ts'
import { makeDays } from './platform/partitions.ts'
import { bindToPolicies } from './platform/row-security.ts'
import { databaseNow } from './platform/server-facts.ts'
import { anchorChains } from './resources/workspace/audit/index.ts'
import { endEveryOwner } from './pipeline/deliver/lanes/owners/queries.ts'
import { checkDurability, checkKeys, checkPolicies, checkReachable, openStorage, type Storage } from './storage.ts'
import { DAY_TABLES } from './workers/upkeep.ts'

export const MIGRATIONS = new URL('../migrations/', import.meta.url)
/** Which brought anchors; they are sealed, so that SQL cannot make them. */
const ANCHORS = '0020_audit_anchors.sql'

export type Booted = { readonly app: App; readonly storage: Storage; readonly config: Config; readonly log: Log }

/** Brings up everything below the surfaces: settings, storage, schema, the parts. The caller starts the app, or only uses it. */
export async function boot(
  environment: Readonly<Record<string, string | undefined>>,
  options: Pick<AppOptions, 'commit' | 'rejections' | 'outbound' | 'resolver'> & {
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
    // The folder's lock is ours, so whoever was sending before is dead: its lanes need not wait for their leases to end.
    const isHeir = options.mode === 'own' && config.DATABASE_URL === undefined
    await checkUsable(opened, log)
    const storage = {
      ...opened,
      target: await bindToPolicies(opened.target, (cause) => log.warn('postgres.role_not_made', { cause })),
    }
    await prepare(storage, { log, isHeir })
    const { mode: _mode, makes: _makes, ...plants } = options
    return { app: createApp({ config, storage, log, ...plants }), storage, config, log }
  } catch (error) {
    await opened.stop()
    throw error
  }
}

/** The PostgreSQL is there and new enough; a loud word when it is set to lose data. */
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

/** The schema of this release, the keys that it is sealed by, and the days around now; a loud word when policies do not hold. */
async function prepare(
  storage: Storage,
  { log, isHeir }: { readonly log: Log; readonly isHeir: boolean },
): Promise<void> {
  const database = openDatabase({
    target: storage.target,
    connectionsMax: 1,
    applicationName: 'postroad boot',
    statementTimeoutMs: 60_000,
  })
  try {
    await checkPolicies(database, log)
    const ran = await migrate(storage.target, MIGRATIONS)
    await checkKeys(database, storage)
    if (ran.includes(ANCHORS)) await anchorChains(database, storage.cipher)
    await makeDaysIfFree(database, log)
    if (isHeir) await Promise.all([endEveryOwner(database), endEveryLease(database)])
  } finally {
    await database.close()
  }
}

/** Behind a long transaction of another node the days are left to upkeep; what comes before then is kept in no day's table. */
async function makeDaysIfFree(database: Database, log: Log): Promise<void> {
  try {
    await makeDays(database, DAY_TABLES, { now: await databaseNow(database), daysAhead: 3 })
  } catch (cause) {
    if (!(cause instanceof DbError) || !cause.unavailable) throw cause
    log.warn('boot.days_not_made', { cause })
  }
}

/** What a person reads when the start fails: one line for what we expected, everything for what we did not. */
export function startFailure(error: unknown): string {
  if (error instanceof ConfigError || error instanceof StartError) return `postroad: ${error.message}`
  return `postroad: could not start: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`
}
