import { chmodSync, closeSync, fsyncSync, lstatSync, mkdirSync, mkdtempSync, openSync, readdirSync, readFileSync,
  renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { commandFor, giveTo, run } from './account.ts'
import type { Account } from './account.ts'
import type { Binaries } from './binaries.ts'
import type { Place } from './place.ts'
import { codeOf, fileError, otherVersion, StartError } from './start-error.ts'

export const DATABASE = 'postroad'
export const USERNAME = 'postroad'

/** A place with the user that PostgreSQL runs as there and the programs that it runs. */
export type Site = Place & { readonly account: Account | undefined, readonly binaries: Binaries }

/** Makes the folders of a site right: data of our version, initialised when there is none, and the socket's folder. */
export async function prepare(site: Site): Promise<void> {
  try {
    sweepUnfinished(site.dataDir)
    if (isEmpty(site.folder)) await initialise(site)
    else adopt(site)
    openSocketFolder(site)
  } catch (error) {
    throw fileError(error, site.dataDir)
  }
}

/** initdb works in a folder beside and the result is moved into place whole: a crash leaves no half a database. */
async function initialise(site: Site): Promise<void> {
  const unfinished = mkdtempSync(join(site.dataDir, 'postgres.new-'))
  try {
    giveTo(site.account, unfinished)
    const initdb = ['-D', unfinished, '-U', USERNAME, '--auth-local=trust', '--auth-host=reject', '--encoding=UTF8',
      '--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8', '--data-checksums', '--no-instructions']
    await run(commandFor({ file: site.binaries.initdb, args: initdb }, site), { place: site })
    const single = ['--single', '-D', unfinished, '-c', 'exit_on_error=on', 'postgres']
    const input = `create database ${DATABASE}\n`
    await run(commandFor({ file: site.binaries.postgres, args: single }, site), { place: site, input })
    rmSync(site.folder, { recursive: true, force: true })
    renameSync(unfinished, site.folder)
    syncFolder(site.dataDir)
  } catch (error) {
    rmSync(unfinished, { recursive: true, force: true })
    throw error
  }
}

/** Takes the data that is there: of our version, and with the owner and mode that PostgreSQL insists on. */
function adopt(site: Site): void {
  const version = versionOf(site.folder)
  if (version === undefined) {
    throw new StartError(`${site.folder} is not a PostgreSQL data folder: move it away, `
      + 'or set DATA_DIR to another folder')
  }
  if (version !== site.binaries.major) throw new StartError(otherVersion(site.folder, version))
  const { uid, mode } = lstatSync(site.folder)
  // Restored or copied by root: only then the whole tree changes hands.
  if (site.account !== undefined && uid === 0) giveTo(site.account, site.folder)
  if ((mode & 0o027) !== 0) chmodSync(site.folder, 0o700)
}

function openSocketFolder({ socketDir, account }: Site): void {
  mkdirSync(socketDir, { recursive: true, mode: 0o700 })
  const { uid, mode } = lstatSync(socketDir)
  const owner = account?.uid ?? process.getuid?.()
  // In the folder for temporary files a stranger may have been here first, with a folder or a link of his own.
  if (!lstatSync(socketDir).isDirectory() || (uid !== owner && uid !== process.getuid?.())) {
    throw new StartError(`The folder for the database's socket, ${socketDir}, belongs to another user: remove it, `
      + 'or set DATA_DIR to a shorter path')
  }
  if ((mode & 0o777) !== 0o700) chmodSync(socketDir, 0o700)
  giveTo(account, socketDir)
}

function sweepUnfinished(dataDir: string): void {
  for (const name of readdirSync(dataDir)) {
    if (name.startsWith('postgres.new-')) rmSync(join(dataDir, name), { recursive: true, force: true, maxRetries: 3 })
  }
}

function isEmpty(folder: string): boolean {
  try {
    return readdirSync(folder).length === 0
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return true
    throw error
  }
}

function versionOf(folder: string): string | undefined {
  try {
    return readFileSync(join(folder, 'PG_VERSION'), 'utf8').trim()
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined
    throw error
  }
}

function syncFolder(folder: string): void {
  const handle = openSync(folder, 'r')
  try {
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}
