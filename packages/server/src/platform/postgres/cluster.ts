import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { syncFolder } from '../sync-folder.ts'
import { FIRST_STATEMENTS, isOfEarlierVersion, SUPERUSER, writeAccess } from './access.ts'
import { commandFor, giveTo, hasSetpriv, makerFor, run } from './account.ts'
import type { Account } from './account.ts'
import type { Binaries } from './binaries.ts'
import type { Place } from './place.ts'
import { unpackCluster } from './packed.ts'
import { codeOf, fileError, otherVersion, StartError } from './start-error.ts'

/** A place, with the user that PostgreSQL runs as there, and the programs to run. */
export type Site = Place & { readonly account: Account | undefined; readonly binaries: Binaries }

/** `meanwhile`: called once a program runs. `readyMade`: a packed cluster, if there is one. */
type Making = { readonly meanwhile: () => void; readonly readyMade: (() => Buffer | undefined) | undefined }

/**
 * Prepares the folders of a site: the data of our version (created when there is none), the access rules, and the socket's
 * folder. `isOlder`: the data is of an earlier version, whose superuser must create the login first.
 */
export async function prepare(site: Site, making: Making): Promise<{ readonly isOlder: boolean }> {
  try {
    sweepUnfinished(site.dataDir)
    const previousOwner = statSync(site.folder, { throwIfNoEntry: false })?.uid
    if (isEmpty(site.folder)) await initialize(site, making)
    else adopt(site)
    openSocketFolder(site, previousOwner)
    const isOlder = isOfEarlierVersion(site.folder)
    writeAccess(site, { setup: isOlder })
    return { isOlder }
  } catch (error) {
    throw fileError(error, site.dataDir)
  }
}

const INITDB = [
  '-U',
  SUPERUSER,
  '--auth-local=peer',
  '--auth-host=reject',
  '--encoding=UTF8',
  '--locale=C',
  '--locale-provider=builtin',
  '--builtin-locale=C.UTF-8',
  '--data-checksums',
  '--no-instructions',
]

/** The inputs of a new cluster, besides the binaries. */
export const CLUSTER_FORM = JSON.stringify([INITDB, FIRST_STATEMENTS])

/**
 * A cluster is made in a temporary folder, forced to disk, and moved into place as a whole, so that a crash leaves no partial
 * database. Until then nothing is forced to disk.
 */
async function initialize(site: Site, { meanwhile, readyMade }: Making): Promise<void> {
  const unfinished = mkdtempSync(join(site.dataDir, 'postgres.new-'))
  const folder = join(unfinished, 'postgres')
  const account = makerFor(site.account)
  const maker = { ...site, account, within: unfinished }
  const runs = (file: string, args: readonly string[], input = ''): Promise<void> =>
    run(commandFor({ file, args }, maker), { place: site, input })
  try {
    mkdirSync(folder, { mode: 0o700 })
    const isCopied = await unpacked(readyMade?.(), folder)
    giveTo(account, folder)
    // A user that only lends its name gets in through setpriv, so that other processes with that name cannot.
    if (account === site.account) giveTo(account, unfinished)
    else if (!hasSetpriv()) chmodSync(unfinished, 0o711)
    if (!isCopied) {
      const running = runs(site.binaries.initdb, ['-D', folder, ...INITDB, '--no-sync'])
      meanwhile()
      await running
      const single = ['--single', '-F', '-D', folder, '-c', 'exit_on_error=on', 'postgres']
      await runs(site.binaries.postgres, single, FIRST_STATEMENTS.map((line) => `${line}\n`).join(''))
    }
    const syncing = runs(site.binaries.initdb, ['-D', folder, '--sync-only', ...SYNC_METHOD])
    meanwhile()
    await syncing
    giveTo(site.account, folder)
    writeAccess({ folder, account: site.account }, { setup: false })
    rmSync(site.folder, { recursive: true, force: true })
    renameSync(folder, site.folder)
    syncFolder(site.dataDir)
  } finally {
    rmSync(unfinished, { recursive: true, force: true })
  }
}

/** Whether the folder is a copy now. Without a packed cluster, or with a damaged one, initdb makes the cluster. */
async function unpacked(packed: Buffer | undefined, folder: string): Promise<boolean> {
  if (packed === undefined) return false
  try {
    await unpackCluster(packed, folder)
    return true
  } catch {
    rmSync(folder, { recursive: true })
    mkdirSync(folder, { mode: 0o700 })
    return false
  }
}

/** One call for the whole file system, instead of one for each of two thousand files. */
const SYNC_METHOD = process.platform === 'linux' ? ['--sync-method=syncfs'] : []

/** Accepts existing data: it must be of our version, and it gets the owner and mode that PostgreSQL requires. */
function adopt(site: Site): void {
  const version = versionOf(site.folder)
  if (version === undefined) {
    throw new StartError(
      `${site.folder} is not a PostgreSQL data folder: move it away, or set DATA_DIR to another folder`,
    )
  }
  if (version !== site.binaries.major) throw new StartError(otherVersion(site.folder, version))
  const { uid, mode } = lstatSync(site.folder)
  // The data was restored or copied by root, or an earlier version ran PostgreSQL as nobody: the whole tree gets a new owner.
  if (site.account !== undefined && uid !== site.account.uid) giveTo(site.account, site.folder)
  if ((mode & 0o027) !== 0) chmodSync(site.folder, 0o700)
}

/** `previousOwner`: the owner of the data before this start. */
function openSocketFolder({ socketDir, account, dataDir }: Site, previousOwner: number | undefined): void {
  const own = [account?.uid, process.getuid?.()]
  const before = lstatSync(socketDir, { throwIfNoEntry: false })
  // In the temporary folder, the previous owner could still change it while we work on it.
  if (
    before !== undefined &&
    before.uid === previousOwner &&
    !own.includes(previousOwner) &&
    dirname(socketDir) !== dataDir
  )
    renameSync(socketDir, `${socketDir}.previous-${process.pid}`)
  mkdirSync(socketDir, { recursive: true, mode: 0o700 })
  const found = lstatSync(socketDir)
  const isPreviousOwners = found.uid === previousOwner && dirname(socketDir) === dataDir
  // In the temporary folder, a stranger may have created a folder or a link before us.
  if (!found.isDirectory() || !(own.includes(found.uid) || isPreviousOwners)) {
    throw new StartError(
      `The folder for the database's socket, ${socketDir}, belongs to another user: remove it, ` +
        'or set DATA_DIR to a shorter path',
    )
  }
  giveTo(account, socketDir)
  if ((found.mode & 0o777) !== 0o700) chmodSync(socketDir, 0o700)
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
