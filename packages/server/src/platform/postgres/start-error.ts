/** Turns the many errors of PostgreSQL and of the system into one line each that a person can act on. */

/** The reason why the database could not be opened: `message` is one line with the error and the remedy. */
export class StartError extends Error {
  override readonly name: string = 'StartError'
}

/** Previous processes of the folder have not all ended yet: it is worth trying again for a few seconds. */
export class StillInUse extends StartError {}

/** The sentence for a root user that lacks the capabilities to run a program as another user. */
export const BOUND_ROOT =
  'PostgreSQL refuses to run as root, and this root user cannot become another user: run Postroad as an ordinary user'

type Where = { readonly dataDir: string; readonly folder: string; readonly logFile: string }

/** The first match decides, so the causes (no space) come before their consequences (a damaged file). */
const SENTENCES: readonly (readonly [RegExp, (where: Where, found: string) => string])[] = [
  [/No space left on device|Disk quota exceeded|Check free disk space/, ({ dataDir }) => diskFull(dataDir)],
  // Without the capability to change its user, even setpriv fails.
  [/^setpriv: (?:set[a-z]*[ug]id|setgroups|initgroups) failed/m, () => BOUND_ROOT],
  [
    /^setpriv: (.*)/m,
    (_, found) =>
      `PostgreSQL refuses to run as root, and no other user can enter these folders (setpriv: ${found}): ` +
      'set DATA_DIR to a folder that others can enter, or run Postroad as an ordinary user',
  ],
  [/initialized by PostgreSQL version ([\d.]+)/, ({ folder }, found) => otherVersion(folder, found)],
  [
    /pre-existing shared memory block|lock file "[^"]*" already exists/,
    ({ folder }) => `${folder} is still in use by another PostgreSQL process: stop that process, then start again`,
  ],
  [
    /(could not \w+ .*shared memory.*|could not create semaphores.*|.*Cannot allocate memory.*)/,
    (_, found) =>
      `PostgreSQL could not get shared memory (${found}): give the machine more memory, ` +
      'or the container a larger /dev/shm (docker: --shm-size=256m)',
  ],
  [
    /(.*(?:Unix-domain socket|\.s\.PGSQL\.).*)/,
    ({ dataDir }, found) =>
      `PostgreSQL could not create its socket (${found}): set DATA_DIR to a folder other than ${dataDir}`,
  ],
  [/could not look up effective user ID (\d+)/, (_, found) => nameless(found)],
  [
    /(error while loading shared libraries.*|version `GLIBC.*' not found.*)/,
    (_, found) =>
      `The embedded PostgreSQL cannot run here (${found}): start Postroad once as the user that installed it, ` +
      'which links the libraries, or set DATABASE_URL',
  ],
  [
    /(.*(?:Permission denied|Operation not permitted|Read-only file system|has wrong ownership).*)/,
    ({ dataDir }, found) =>
      `PostgreSQL cannot access its files (${found}): give ${dataDir} to the user ` +
      'that runs Postroad, or set DATA_DIR to another folder',
  ],
  [/(.*(?:checkpoint record|pg_control|incorrect checksum|invalid page|files are incompatible).*)/, damaged],
  [/(.*could not (?:open|read|access) (?:file|directory).*)/, damaged],
]

/** One sentence for a folder that another major version of PostgreSQL made. */
export function otherVersion(folder: string, found: string): string {
  return (
    `The data in ${folder} was created by PostgreSQL ${found}, but this Postroad uses another version: ` +
    'move it over with pg_dump from the old version, or set DATA_DIR to another folder'
  )
}

/** One sentence for a user id without a name on the system. */
export function nameless(uid: string): string {
  return (
    `User ${uid} has no name on this system and PostgreSQL needs one: add it to /etc/passwd, ` +
    'run as another user, or set DATABASE_URL'
  )
}

function damaged({ folder }: Where, found: string): string {
  return (
    `The data in ${folder} is damaged or is not PostgreSQL's (${found}): ` +
    'restore a backup there, or move it away to start with an empty database'
  )
}

function diskFull(dataDir: string): string {
  return `The disk of ${dataDir} is full: free some space on it, then start again`
}

/** The gist of the output of initdb or postgres, as one line without a date. */
export function lastWords(output: string): string {
  const lines = output
    .split('\n')
    .map(withoutPrefix)
    .filter((line) => line !== '')
  const worst = lines.findLast((line) => /(FATAL|PANIC|error|ERROR):/.test(line))
  return (worst ?? lines.at(-1) ?? 'it said nothing').replace(/^(FATAL|PANIC|ERROR|LOG): +/, '')
}

/** The error for a PostgreSQL program that ended with `output`. The remedy names the paths in `where`. */
export function explain(output: string, where: Where): StartError {
  // In an ordinary start, PostgreSQL's log also mentions sockets and checkpoints.
  const said = output
    .split('\n')
    .map(withoutPrefix)
    .filter((line) => !line.startsWith('LOG:'))
    .join('\n')
  for (const [pattern, sentence] of SENTENCES) {
    const match = pattern.exec(said)
    if (match === null) continue
    const line = sentence(where, (match[1] ?? match[0]).replace(/^(FATAL|PANIC|ERROR|LOG): +/, ''))
    return /pre-existing shared memory/.test(match[0]) ? new StillInUse(line) : new StartError(line)
  }
  return new StartError(`PostgreSQL did not start (${lastWords(output)}): its log is ${where.logFile}`)
}

/** The error for a refusal of the file system at `path`. Any other error is returned unchanged. */
export function fileError(error: unknown, path: string): unknown {
  const code = codeOf(error)
  const refused = (line: string): StartError => new StartError(line, { cause: error })
  switch (code) {
    case 'ENOSPC':
    case 'EDQUOT':
      return refused(diskFull(path))
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
      return refused(`${path} is not writable for this user: run as its owner, or set DATA_DIR to another folder`)
    case 'ENOTDIR':
    case 'EEXIST':
      return refused(`${path} is a file where a folder is needed: set DATA_DIR to a folder`)
    case 'ENAMETOOLONG':
      return refused(`${path} is too long for this system: set DATA_DIR to a shorter path`)
    case undefined:
      return error
    default:
      return refused(`${path} cannot be used (${code}): set DATA_DIR to another folder`)
  }
}

/** The system's code of an error (`ENOENT`), or undefined when it has none. */
export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined
}

function withoutPrefix(line: string): string {
  return line.replace(/^\d{4}-\d\d-\d\d \S+ \S+ \[\d+\] /, '').trim()
}
