import { rm } from 'node:fs/promises'
import { openDatabase, type DatabaseTarget } from '../../src/platform/db.ts'
import { openEmbeddedPostgres } from '../../src/platform/embedded-postgres.ts'
import { migrate } from '../../src/platform/migrate.ts'
import { bindToPolicies } from '../../src/platform/row-security.ts'
import { makeDatabaseFolder } from './database-folder.ts'
import { superuserOf } from './superuser.ts'

/** The login that creates databases, and the role that the servers under test become. */
export type TestTarget = { readonly operator: DatabaseTarget; readonly role?: string | undefined }

/**
 * One PostgreSQL for the whole run: the server of `TEST_DATABASE_URL` when it is set (it must allow new databases), or
 * else an embedded one. Every test file makes its database from a migrated template, so files do not see each other.
 */
let stop: () => Promise<void> = () => Promise.resolve()

export async function globalSetup(): Promise<void> {
  const target = await openTarget()
  const database = openDatabase({
    target,
    connectionsMax: 1,
    applicationName: 'test setup',
    statementTimeoutMs: 60_000,
  })
  await database.run({ strings: ['drop database if exists postroad_template'], values: [] })
  await database.run({ strings: ['create database postroad_template'], values: [] })
  const bound = await bindToPolicies(inDatabase(target, 'postroad_template'), (cause) =>
    process.emitWarning(`Row-level security is not tested: ${String(cause)}`),
  )
  await migrate(bound, new URL('../../migrations/', import.meta.url))
  await database.close()
  process.env['POSTROAD_TEST_TARGET'] = JSON.stringify({ operator: target, role: bound.role } satisfies TestTarget)
}

export async function globalTeardown(): Promise<void> {
  await stop()
}

async function openTarget(): Promise<DatabaseTarget> {
  const url = process.env['TEST_DATABASE_URL']
  if (url !== undefined) return { url }
  const folder = makeDatabaseFolder()
  // The chaos runs test durability; here a power failure loses nothing of value.
  const postgres = await openEmbeddedPostgres({ dataDir: folder, mode: 'own', settings: { max_connections: '200' } })
  stop = async () => {
    await postgres.stop()
    await rm(folder, { recursive: true, force: true })
  }
  return superuserOf(folder)
}

export function inDatabase(target: DatabaseTarget, database: string): DatabaseTarget {
  if (!('url' in target)) return { ...target, database }
  const url = new URL(target.url)
  url.pathname = `/${database}`
  return { url: url.href }
}
