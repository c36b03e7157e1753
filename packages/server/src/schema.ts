import { openDatabase, type Database, DbError } from './platform/db.ts'
import { MIGRATIONS } from './migrations.ts'
import { StartError } from './platform/embedded-postgres.ts'
import type { Log } from './platform/log.ts'
import { findDueMigrations, migrate } from './platform/migrate.ts'
import { endEveryLease } from './platform/leases.ts'
import { makeDays } from './platform/partitions.ts'
import { databaseNow } from './platform/server-facts.ts'
import { anchorChains } from './resources/workspace/audit/index.ts'
import { endEveryOwner } from './pipeline/deliver/lanes/owners/queries.ts'
import { checkKeys, checkPolicies, type Storage } from './storage.ts'
import { DAY_TABLES } from './workers/upkeep.ts'

/** The migration that introduced anchors. They are sealed, so SQL cannot create them. */
const ANCHORS = '0020_audit_anchors.sql'

/**
 * Prepares the schema of this release, checks its keys, and creates the tables of the days around now. Logs an error if
 * policies do not bind the server. `makes: false` changes nothing: it refuses a schema of an older release. Returns the migrations
 * that ran.
 */
export async function prepareSchema(
  storage: Storage,
  { log, isHeir, makes }: { readonly log: Log; readonly isHeir: boolean; readonly makes: boolean },
): Promise<readonly string[]> {
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
      await checkKeys(database, storage)
      return []
    }
    const ran = await migrate(storage.target, MIGRATIONS)
    await checkKeys(database, storage)
    if (ran.includes(ANCHORS)) await anchorChains(database, storage.cipher)
    await makeDaysIfFree(database, log)
    if (isHeir) await Promise.all([endEveryOwner(database), endEveryLease(database)])
    return ran
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
