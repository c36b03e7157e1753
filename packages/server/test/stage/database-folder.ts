import { mkdtempSync, readdirSync, readFileSync, rmSync, statfsSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A file system in memory, because a disk spends more time on the files of thousands of tables than on the tests. */
const MEMORY = '/dev/shm'
/** A whole run stores less than half of this. */
const FREE_BYTES_MIN = 4 * 1024 ** 3
const PREFIX = 'postroad-test-'
const HOUR_MS = 3_600_000

/** A new folder for the database of a run: in memory where that has room, else in the folder for temporary files. */
export function makeDatabaseFolder(): string {
  if (!hasRoom(MEMORY)) return mkdtempSync(join(tmpdir(), PREFIX))
  removeAbandoned(MEMORY)
  return mkdtempSync(join(MEMORY, PREFIX))
}

function hasRoom(folder: string): boolean {
  try {
    const { bavail, bsize } = statfsSync(folder)
    return bavail * bsize >= FREE_BYTES_MIN
  } catch {
    return false
  }
}

/** A run that was killed leaves its folder behind, and here that would cost memory. */
function removeAbandoned(folder: string): void {
  for (const name of readdirSync(folder)) {
    const at = join(folder, name)
    if (name.startsWith(PREFIX) && isAbandoned(at)) rmSync(at, { recursive: true, force: true })
  }
}

/** Whether no process has the database open. A folder without a process id is starting, unless it is an hour old. */
function isAbandoned(folder: string): boolean {
  try {
    process.kill(Number.parseInt(readFileSync(join(folder, 'postgres', 'postmaster.pid'), 'utf8'), 10), 0)
    return false
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    if (code === 'ESRCH') return true
    return code === 'ENOENT' && ageMs(folder) > HOUR_MS
  }
}

const ageMs = (folder: string): number =>
  Date.now() - (statSync(folder, { throwIfNoEntry: false })?.mtimeMs ?? Infinity)
