/**
 * The access rules of the embedded PostgreSQL: only the server's own user of the operating system may connect, with a login
 * that is not a superuser. The superuser may connect only during the start that takes over a data folder of an earlier version.
 */
import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { openDatabase, statement, type DatabaseTarget } from '../db.ts'
import { makeServerRole, SERVER_ROLE } from '../row-security.ts'
import { giveTo } from './account.ts'
import type { Account } from './account.ts'
import { PORT } from './place.ts'
import { codeOf, nameless, StartError } from './start-error.ts'

export const DATABASE = 'postroad'
/** The login of the product. It owns the database and is not a superuser. */
export const LOGIN = SERVER_ROLE
/** The role that initdb creates. PostgreSQL does not let it stop being a superuser, so nobody connects as it. */
export const SUPERUSER = 'postroad'

type Site = { readonly folder: string; readonly socketDir: string; readonly account: Account | undefined }

const HEAD = '# Postroad writes this file at each start.\n'
const LINE = `local ${DATABASE} ${LOGIN} peer map=server\n`
const SETUP_LINE = `local ${DATABASE} ${SUPERUSER} peer map=setup\n`

/** Statements for a new cluster in single-user mode, one per line. */
export const FIRST_STATEMENTS = [
  `create role ${LOGIN} login`,
  `grant pg_read_all_stats to ${LOGIN}`,
  `create database ${DATABASE} owner ${LOGIN}`,
]

/** Whether the data is from a version that connected as the superuser, or from an interrupted takeover of such data. */
export function isOfEarlierVersion(folder: string): boolean {
  return read(join(folder, 'pg_hba.conf')) !== HEAD + LINE
}

/** Writes the access rules. `setup` also allows the superuser. */
export function writeAccess(site: Pick<Site, 'folder' | 'account'>, options: { readonly setup: boolean }): void {
  // The account owns the files anyway, and root can become any user.
  const names = [...new Set([ownName(), site.account?.name ?? ownName(), 'root'])]
  const mapped = (map: string, role: string): string =>
    names.map((name) => `${map} "${name.replaceAll('"', '""')}" ${role}\n`).join('')
  replace(site, 'pg_ident.conf', HEAD + mapped('server', LOGIN) + (options.setup ? mapped('setup', SUPERUSER) : ''))
  replace(site, 'pg_hba.conf', HEAD + LINE + (options.setup ? SETUP_LINE : ''))
}

/**
 * Takes over the data of an earlier version: creates the login and makes it the owner. Meanwhile the caller allows the
 * superuser.
 */
export async function makeLogin({ socketDir }: Pick<Site, 'socketDir'>): Promise<void> {
  const target: DatabaseTarget = { host: socketDir, port: PORT, database: DATABASE, username: SUPERUSER }
  const options = { connectionsMax: 1, applicationName: 'postroad setup', statementTimeoutMs: 60_000 }
  const database = openDatabase({ target, ...options })
  try {
    await database.transaction(makeServerRole)
    await database.run(statement(`alter role ${LOGIN} login`))
    await database.run(statement(`alter database ${DATABASE} owner to ${LOGIN}`))
  } finally {
    await database.close()
  }
}

function ownName(): string {
  try {
    return userInfo().username
  } catch (error) {
    throw new StartError(nameless(String(process.getuid?.())), { cause: error })
  }
}

function replace({ folder, account }: Pick<Site, 'folder' | 'account'>, name: string, text: string): void {
  const file = join(folder, name)
  if (read(file) === text) return
  const draft = `${file}.new-${process.pid}`
  writeFileSync(draft, text, { mode: 0o600, flush: true, flag: 'wx' })
  giveTo(account, draft)
  renameSync(draft, file)
}

function read(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined
    throw error
  }
}
