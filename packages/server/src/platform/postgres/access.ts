/**
 * Who may connect to the embedded PostgreSQL: the server's own user of the operating system, as a login that is no superuser.
 * The superuser has no way in, but for the start that takes over a data folder of an earlier version.
 */
import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { openDatabase, type DatabaseTarget } from '../db.ts'
import { makeServerRole, SERVER_ROLE } from '../row-security.ts'
import { giveTo } from './account.ts'
import type { Account } from './account.ts'
import { PORT } from './place.ts'
import { codeOf, nameless, StartError } from './start-error.ts'

export const DATABASE = 'postroad'
/** The login of the product: it owns the database and is no superuser. */
export const LOGIN = SERVER_ROLE
/** The role that initdb makes. PostgreSQL does not let it stop being a superuser, so nobody connects as it. */
export const SUPERUSER = 'postroad'

type Site = { readonly folder: string; readonly socketDir: string; readonly account: Account | undefined }

const HEAD = '# Postroad writes this file at each start.\n'
const LINE = `local ${DATABASE} ${LOGIN} peer map=server\n`
const SETUP_LINE = `local ${DATABASE} ${SUPERUSER} peer map=setup\n`

/** What a new cluster is told in single-user mode, one statement a line. */
export const FIRST_STATEMENTS = [
  `create role ${LOGIN} login`,
  `grant pg_read_all_stats to ${LOGIN}`,
  `create database ${DATABASE} owner ${LOGIN}`,
]

/** Whether the data is of a version that connected as the superuser, or of a start that was interrupted while it took it over. */
export function isOfEarlierVersion(folder: string): boolean {
  return read(join(folder, 'pg_hba.conf')) !== HEAD + LINE
}

/** Writes who may connect. `setup` lets the superuser in too. */
export function writeAccess(site: Pick<Site, 'folder' | 'account'>, options: { readonly setup: boolean }): void {
  // The account holds the files anyway, and root may become anybody.
  const names = [...new Set([ownName(), site.account?.name ?? ownName(), 'root'])]
  const mapped = (map: string, role: string): string =>
    names.map((name) => `${map} "${name.replaceAll('"', '""')}" ${role}\n`).join('')
  replace(site, 'pg_ident.conf', HEAD + mapped('server', LOGIN) + (options.setup ? mapped('setup', SUPERUSER) : ''))
  replace(site, 'pg_hba.conf', HEAD + LINE + (options.setup ? SETUP_LINE : ''))
}

/** Takes over the data of an earlier version: the login and what it owns. The caller lets the superuser in for so long. */
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

const statement = (text: string) => ({ strings: [text], values: [] })

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
