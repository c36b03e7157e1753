/** PostgreSQL refuses to run as root: here is decided which user it runs as instead, and how it gets there. */
import { spawn } from 'node:child_process'
import { lchownSync, lstatSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { ChildProcess, SpawnOptions } from 'node:child_process'
import type { Place } from './place.ts'
import { codeOf, explain, StartError } from './start-error.ts'

export type Account = { readonly uid: number, readonly gid: number }
type Program = { readonly file: string, readonly args: readonly string[] }
export type Command = { readonly file: string, readonly args: readonly string[], readonly options: SpawnOptions }

// A closed set: the caller's PG* variables and locale must not change what these programs do.
const env = { PATH: '/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin', LC_ALL: 'C', TZ: 'UTC' }

/** The user for PostgreSQL: undefined keeps ours; for root the owner of the data, or nobody when that is root too. */
export function accountFor(place: Place): Account | undefined {
  if (process.getuid?.() !== 0) return undefined
  const data = statSync(place.folder, { throwIfNoEntry: false })
  if (data !== undefined && data.uid !== 0) return { uid: data.uid, gid: data.gid }
  const users = readFileSync('/etc/passwd', 'utf8').split('\n').map((line) => line.split(':'))
  const owner = statSync(place.dataDir).uid
  const user = users.find(([, , uid]) => owner !== 0 && Number(uid) === owner)
    ?? users.find(([name]) => name === 'nobody')
  return { uid: Number(user?.[2] ?? 65534), gid: Number(user?.[3] ?? 65534) }
}

/** Gives a file or a folder with all that is in it to the account; nothing happens without one. */
export function giveTo(account: Account | undefined, path: string): void {
  if (account === undefined) return
  const within = lstatSync(path).isDirectory() ? readdirSync(path, { recursive: true, encoding: 'utf8' }) : []
  try {
    for (const name of ['', ...within]) lchownSync(join(path, name), account.uid, account.gid)
  } catch (error) {
    throw codeOf(error) === 'EPERM' ? boundRoot(error) : error
  }
}

/** Whether the mode bits of `path` and of all folders above let the account in. */
function mayEnter(account: Account, path: string): boolean {
  const parent = dirname(path)
  if (parent !== path && !mayEnter(account, parent)) return false
  const { uid, gid, mode } = statSync(path)
  const bit = uid === account.uid ? 0o100 : gid === account.gid ? 0o010 : 0o001
  return (mode & bit) !== 0
}

/** How a PostgreSQL program is started at a place: as ourselves, as the account, or as the account through setpriv. */
export function commandFor(program: Program, place: Place & { readonly account: Account | undefined }): Command {
  const { account } = place
  const options = { cwd: '/', env }
  if (account === undefined) return { ...program, options }
  const ways = [program.file, place.dataDir, dirname(place.socketDir)]
  if (ways.every((path) => mayEnter(account, path))) return { ...program, options: { ...options, ...account } }
  // Behind a closed folder (/root) only the right to pass any folder helps; the program still is not root.
  const passport = [`--reuid=${account.uid}`, `--regid=${account.gid}`, '--clear-groups',
    '--inh-caps=+dac_override', '--ambient-caps=+dac_override', '--']
  return { file: 'setpriv', args: [...passport, program.file, ...program.args], options }
}

/** Runs a program to its end with `input`; StartError with its one cause when it fails. */
export async function run(command: Command, at: { place: Place, input?: string }): Promise<void> {
  const child = begin(command, { stdio: 'pipe' })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => { output += text })
  }
  child.stdin?.on('error', () => { /* A program that ended early says why in its output. */ }).end(at.input ?? '')
  const code = await new Promise<number | null>((resolve, reject) => {
    child.on('error', (error) => { reject(spawnError(error, command.file)) }).on('close', resolve)
  })
  if (code !== 0) throw explain(output, at.place)
}

/** Starts a program. Some of what keeps it from starting is thrown, the rest is its `error` event: see `spawnError`. */
export function begin(command: Command, options: SpawnOptions): ChildProcess {
  try {
    return spawn(command.file, command.args, { ...command.options, ...options })
  } catch (error) {
    throw error instanceof Error ? spawnError(error, command.file) : error
  }
}

/** The one line for a program that the system would not start. */
export function spawnError(error: Error, file: string): StartError {
  const cause = { cause: error }
  if (file === 'setpriv') {
    return new StartError('PostgreSQL does not run as root, and without setpriv (util-linux) no other user gets into '
      + 'these folders: set DATA_DIR to a folder that others can enter, or run Postroad as an ordinary user', cause)
  }
  if (codeOf(error) === 'EPERM' || codeOf(error) === 'EINVAL') return boundRoot(error)
  const why = `${file}: ${codeOf(error) ?? error.message}`
  return new StartError(`The embedded PostgreSQL cannot run on this system (${why}): set DATABASE_URL`, cause)
}

function boundRoot(cause: unknown): StartError {
  return new StartError('PostgreSQL does not run as root, and this root user may not become another: '
    + 'run Postroad as an ordinary user', { cause })
}
