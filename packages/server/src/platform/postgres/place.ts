import { createHash } from 'node:crypto'
import { realpathSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** The paths of one embedded PostgreSQL: absolute, and the same for every process. */
export type Place = {
  readonly dataDir: string
  readonly folder: string
  readonly logFile: string
  readonly socketDir: string
}

export const PORT = 5432

// The system's limit for a socket's path in bytes, without the closing NUL.
const socketPathBytesMax = process.platform === 'darwin' ? 103 : 107

/** The place of an existing data folder. If its path is too long for a socket, the socket is in the system's temporary folder. */
export function placeOf(dataDir: string): Place {
  const home = realpathSync(dataDir)
  const short = `postroad-${createHash('sha256').update(home).digest('hex').slice(0, 16)}`
  const candidates = [join(home, 'run'), join(tmpdir(), short), join('/tmp', short)]
  const socketDir = candidates.find((dir) => Buffer.byteLength(socketPath(dir)) <= socketPathBytesMax)
  return {
    dataDir: home,
    folder: join(home, 'postgres'),
    logFile: join(home, 'postgres.log'),
    socketDir: socketDir ?? join('/tmp', short),
  }
}

/** The socket's file in its folder, by PostgreSQL's naming. */
export function socketPath(socketDir: string): string {
  return join(socketDir, `.s.PGSQL.${PORT}`)
}
