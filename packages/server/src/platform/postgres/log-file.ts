import {
  closeSync,
  constants,
  copyFileSync,
  fstatSync,
  openSync,
  readSync,
  rmSync,
  statSync,
  truncateSync,
} from 'node:fs'
import type { Account } from './account.ts'
import { giveTo } from './account.ts'
import type { Place } from './place.ts'

const logBytesMax = 8 * 1024 * 1024
const tailBytesMax = 16 * 1024

/** Opens PostgreSQL's log for a child to append to. The caller closes the handle once the child has it. */
export function openLog(place: Place & { readonly account: Account | undefined }): number {
  trimLog(place.logFile)
  const { O_APPEND, O_CREAT, O_NOFOLLOW, O_WRONLY } = constants
  const handle = openSync(place.logFile, O_APPEND | O_CREAT | O_NOFOLLOW | O_WRONLY, 0o600)
  giveTo(place.account, place.logFile)
  return handle
}

/** Moves a log over 8 MiB to `postgres.log.1`. Its writer appends, so it continues at the start of the emptied file. */
export function trimLog(logFile: string): void {
  const size = sizeOf(logFile)
  if (size <= logBytesMax) return
  rmSync(`${logFile}.1`, { force: true })
  copyFileSync(logFile, `${logFile}.1`)
  truncateSync(logFile)
}

/** The log's size in bytes, 0 when there is none. */
export function sizeOf(logFile: string): number {
  return statSync(logFile, { throwIfNoEntry: false })?.size ?? 0
}

/** The text that was logged since the log had `from` bytes: at most its last 16 KiB. */
export function readLog(logFile: string, from: number): string {
  const handle = openSync(logFile, 'r')
  try {
    const { size } = fstatSync(handle)
    const start = Math.max(from > size ? 0 : from, size - tailBytesMax)
    const tail = Buffer.alloc(size - start)
    return tail.toString('utf8', 0, readSync(handle, tail, 0, tail.length, start))
  } finally {
    closeSync(handle)
  }
}
