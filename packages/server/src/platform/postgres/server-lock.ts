/**
 * One Postroad server per data folder. The lock is the kernel's own lock on a file, which Node reaches only through SQLite. It
 * ends with the process, however that ends, so a lock is never stale and no process id is confused.
 */
import { DatabaseSync } from 'node:sqlite'
import { accessSync, constants, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { codeOf, fileError, StartError } from './start-error.ts'

/** The purpose of the holder: `own` uses the folder as the server, `join` only for the moment. */
export type Mode = 'own' | 'join'
export type Lock = { release(): void }
export type Holder = { readonly pid: number; readonly mode: Mode }

// The garbage collector would release a lock that only its caller references.
const held = new Set<DatabaseSync>()

/** Takes the folder's lock for this process without waiting. Returns undefined when another process has it. */
export function tryLock(dataDir: string, mode: Mode): Lock | undefined {
  const db = open(dataDir)
  try {
    db.exec('pragma journal_mode = memory; begin exclusive')
  } catch (error) {
    db.close()
    if (error instanceof Error && 'errcode' in error && error.errcode === 5) return undefined
    throw notOurs(dataDir, error)
  }
  held.add(db)
  const note = noteOf(dataDir)
  const release = (): void => {
    if (!held.delete(db)) return
    rmSync(note, { force: true })
    db.close()
  }
  try {
    rmSync(note, { force: true })
    writeFileSync(note, `${process.pid} ${mode}\n`)
  } catch (error) {
    release()
    throw fileError(error, dataDir)
  }
  return { release }
}

/** The holder of the lock according to its note; undefined while the note is missing or names a dead process. */
export function holderOf(dataDir: string): Holder | undefined {
  try {
    const [pid, mode] = readFileSync(noteOf(dataDir), 'utf8').trim().split(' ')
    const holder: Holder = { pid: Number(pid), mode: mode === 'own' ? 'own' : 'join' }
    return exists(holder.pid) ? holder : undefined
  } catch {
    return undefined
  }
}

/** Whether a process with this id is alive, ours or not. */
export function exists(pid: number): boolean {
  try {
    return pid > 0 && process.kill(pid, 0)
  } catch (error) {
    return codeOf(error) === 'EPERM'
  }
}

function open(dataDir: string): DatabaseSync {
  try {
    const db = new DatabaseSync(lockFileOf(dataDir))
    // SQLite also opens a read-only file, but then takes only a read lock, which excludes no one.
    accessSync(lockFileOf(dataDir), constants.W_OK)
    return db
  } catch (error) {
    throw notOurs(dataDir, error)
  }
}

function notOurs(dataDir: string, cause: unknown): StartError {
  return new StartError(
    `${lockFileOf(dataDir)} cannot be locked (${cause instanceof Error ? cause.message : ''}): ` +
      `run as the owner of ${dataDir}, or set DATA_DIR to another folder`,
    { cause },
  )
}

/** The locked file. Nothing else in this process may open it, because closing it again would release the lock. */
export function lockFileOf(dataDir: string): string {
  return join(dataDir, 'server.lock')
}

function noteOf(dataDir: string): string {
  return join(dataDir, 'server.pid')
}
