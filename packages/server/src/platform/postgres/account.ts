/** PostgreSQL refuses to run as root: this file decides which user it runs as instead, and how it gets there. */
import { execFileSync, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, lchownSync, lstatSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { ChildProcess, SpawnOptions } from 'node:child_process'
import type { Place } from './place.ts'
import { BOUND_ROOT, codeOf, explain, StartError } from './start-error.ts'

/** `name`: the system's name of the user. A reserved id has none. */
export type Account = { readonly uid: number; readonly gid: number; readonly name: string | undefined }
type Program = { readonly file: string; readonly args: readonly string[] }
export type Command = { readonly file: string; readonly args: readonly string[]; readonly options: SpawnOptions }

// A closed set: the caller's PG* variables and locale must not change how these programs behave.
const env = { PATH: '/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin', LC_ALL: 'C', TZ: 'UTC' }

/**
 * The user for PostgreSQL; undefined means our own user. For root it is the owner of `DATA_DIR` if that is another user,
 * otherwise a user id that nobody else has. The owner of the data folder records that id.
 */
export function accountFor(place: Place): Account | undefined {
  if (process.getuid?.() !== 0) return undefined
  const { uid, gid } = statSync(place.dataDir)
  if (uid !== 0) return { uid, gid, name: nameOf(uid) }
  const data = statSync(place.folder, { throwIfNoEntry: false })
  const isOurs = data !== undefined && isReserved(data.uid) && nameOf(data.uid) === undefined
  return isOurs ? { uid: data.uid, gid: data.gid, name: undefined } : unusedAccount(place.dataDir)
}

/**
 * The user that creates a new cluster. initdb needs a user with a name. If the account has none, it uses the user `nobody`, and
 * the caller locks other processes of `nobody` out of the folder.
 */
export function makerFor(account: Account | undefined): Account | undefined {
  if (account === undefined || account.name !== undefined) return account
  const user = entries('passwd').find(([name]) => name === 'nobody')
  return { uid: Number(user?.[2] ?? 65_534), gid: Number(user?.[3] ?? 65_534), name: 'nobody' }
}

/** The system's name of a user or group id, from every source that the system has; undefined when nobody has the id. */
export function nameOf(id: number, table: Table = 'passwd'): string | undefined {
  try {
    const found = execFileSync('getent', [table, String(id)], { encoding: 'utf8', env, timeout: 5000 })
    return found.split(':')[0]
  } catch (error) {
    // Exit code 2: the id does not exist. Anything else: there is no getent here.
    if (error instanceof Error && 'status' in error && error.status === 2) return undefined
    return entries(table).find(([, , of]) => of === String(id))?.[0]
  }
}

type Table = 'passwd' | 'group'

function entries(table: Table): string[][] {
  const text = readFileSync(`/etc/${table}`, 'utf8')
  return text.split('\n').map((line) => line.split(':'))
}

// No distribution assigns ids from these ranges. A container with mapped ids has only the second range.
const RESERVED = [
  { first: 1_879_048_192, last: 2_147_483_646 },
  { first: 60_578, last: 61_183 },
] as const
const TRIES = 100

function isReserved(id: number): boolean {
  return RESERVED.some(({ first, last }) => id >= first && id <= last)
}

/**
 * An id for a new data folder. It comes from the folder's path, so that two folders have different ids, and moves on while an
 * id is taken.
 */
function unusedAccount(dataDir: string): Account {
  const maps = ['uid', 'gid'].map((kind) => idMap(kind))
  const exists = (id: number): boolean => maps.every((ranges) => ranges.some(([from, to]) => id >= from && id < to))
  const range = RESERVED.find(({ first, last }) => exists(first) && exists(last))
  const seed = createHash('sha256').update(dataDir).digest().readUInt32BE()
  const candidates =
    range === undefined
      ? []
      : Array.from({ length: TRIES }, (_none, step) => range.first + ((seed + step) % (range.last - range.first + 1)))
  for (const id of candidates)
    if (nameOf(id) === undefined && nameOf(id, 'group') === undefined && !isRunning(id))
      return { uid: id, gid: id, name: undefined }
  throw new StartError(
    'PostgreSQL refuses to run as root, and this system has no separate user id for it: ' +
      'make an ordinary user the owner of DATA_DIR, or run Postroad as one',
  )
}

/** The ids that this process may use, as ranges; all ids if the system maps none. */
function idMap(kind: string): readonly (readonly [from: number, to: number])[] {
  try {
    const lines = readFileSync(`/proc/self/${kind}_map`, 'utf8').trim().split('\n')
    return lines.map((line) => {
      const [from = 0, , count = 0] = line.trim().split(/\s+/).map(Number)
      return [from, from + count]
    })
  } catch {
    return [[0, Number.MAX_SAFE_INTEGER]]
  }
}

/** Whether a process runs as this user; false if there is no /proc. */
function isRunning(uid: number): boolean {
  try {
    const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
    return pids.some((pid) => statSync(`/proc/${pid}`, { throwIfNoEntry: false })?.uid === uid)
  } catch {
    return false
  }
}

/** Gives a file, or a folder with all its content, to the account. Does nothing without an account. */
export function giveTo(account: Account | undefined, path: string): void {
  if (account === undefined) return
  try {
    if (lstatSync(path).isDirectory()) {
      // The folder closes first, so that its previous owner cannot plant links. After a kill halfway, it stays root's.
      lchownSync(path, 0, 0)
      for (const name of readdirSync(path, { recursive: true, encoding: 'utf8' }))
        lchownSync(join(path, name), account.uid, account.gid)
    }
    lchownSync(path, account.uid, account.gid)
  } catch (error) {
    throw codeOf(error) === 'EPERM' ? boundRoot(error) : error
  }
}

/** Whether setpriv exists. It lets another user pass closed folders. */
export function hasSetpriv(): boolean {
  return env.PATH.split(':').some((folder) => existsSync(join(folder, 'setpriv')))
}

/** Whether the mode bits of `path` and of all its parent folders let the account in. */
function mayEnter(account: Account, path: string): boolean {
  const parent = dirname(path)
  if (parent !== path && !mayEnter(account, parent)) return false
  const { uid, gid, mode } = statSync(path)
  const bit = uid === account.uid ? 0o100 : gid === account.gid ? 0o010 : 0o001
  return (mode & bit) !== 0
}

/** `within`: the folder that the program must be able to enter. Defaults to the data folder. */
type CommandPlace = Place & { readonly account: Account | undefined; readonly within?: string }

/** The way to start a PostgreSQL program: as ourselves, as the account, or as the account through setpriv. */
export function commandFor(program: Program, place: CommandPlace): Command {
  const { account, within = place.dataDir } = place
  const options = { cwd: '/', env }
  if (account === undefined) return { ...program, options }
  const ways = [program.file, within, dirname(place.socketDir)]
  if (ways.every((path) => mayEnter(account, path)))
    return { ...program, options: { ...options, uid: account.uid, gid: account.gid } }
  // Behind a closed folder (/root), only the capability to pass any folder helps. The program still does not run as root.
  const passport = [
    `--reuid=${account.uid}`,
    `--regid=${account.gid}`,
    '--clear-groups',
    '--inh-caps=+dac_override',
    '--ambient-caps=+dac_override',
    // The programs ask `access` whether they may read themselves, which ignores capabilities of another user without this.
    ...(mayEnter(account, program.file) ? [] : ['--securebits=+no_setuid_fixup']),
    '--',
  ]
  return { file: 'setpriv', args: [...passport, program.file, ...program.args], options }
}

/** Runs a program to its end with `input`. Rejects with a StartError that names the cause when it fails. */
export async function run(command: Command, at: { place: Place; input?: string }): Promise<void> {
  const child = begin(command, { stdio: 'pipe' })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      output += text
    })
  }
  child.stdin
    ?.on('error', () => {
      /* A program that ended early gives the reason in its output. */
    })
    .end(at.input ?? '')
  const code = await new Promise<number | null>((resolve, reject) => {
    child
      .on('error', (error) => {
        reject(spawnError(error, command.file))
      })
      .on('close', resolve)
  })
  if (code !== 0) throw explain(output, at.place)
}

/** Starts a program. Some start errors are thrown, the others are its `error` event: see `spawnError`. */
export function begin(command: Command, options: SpawnOptions): ChildProcess {
  try {
    return spawn(command.file, command.args, { ...command.options, ...options })
  } catch (error) {
    throw error instanceof Error ? spawnError(error, command.file) : error
  }
}

/** The one-line error for a program that the system would not start. */
export function spawnError(error: Error, file: string): StartError {
  const cause = { cause: error }
  if (file === 'setpriv') {
    return new StartError(
      'PostgreSQL refuses to run as root, and without setpriv (util-linux) no other user can enter ' +
        'these folders: set DATA_DIR to a folder that others can enter, or run Postroad as an ordinary user',
      cause,
    )
  }
  if (codeOf(error) === 'EPERM' || codeOf(error) === 'EINVAL') return boundRoot(error)
  const why = `${file}: ${codeOf(error) ?? error.message}`
  return new StartError(`The embedded PostgreSQL cannot run on this system (${why}): set DATABASE_URL`, cause)
}

function boundRoot(cause: unknown): StartError {
  return new StartError(BOUND_ROOT, { cause })
}
