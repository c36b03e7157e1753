import { execFileSync } from 'node:child_process'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Place } from './place.ts'
import { socketPath } from './place.ts'
import { exists } from './server-lock.ts'
import { codeOf, StartError } from './start-error.ts'

/** The content of PostgreSQL's own `postmaster.pid`: the process that runs on the data folder, or ran on it. */
export type Postmaster = { readonly pid: number; readonly socketDir: string; readonly ready: boolean }

/** Reads `postmaster.pid`; undefined when PostgreSQL stopped cleanly, or when this user may not read it. */
export function postmasterOf(folder: string): Postmaster | undefined {
  try {
    const lines = readFileSync(noteOf(folder), 'utf8')
      .split('\n')
      .map((line) => line.trim())
    return { pid: Number(lines[0]), socketDir: lines[4] ?? '', ready: lines[7] === 'ready' }
  } catch {
    return undefined
  }
}

/** Whether process `pid` is a living PostgreSQL that Postroad started here, and not another program that got its id. */
export function runs(pid: number, folder: string): boolean {
  return exists(pid) && commandLine(pid).includes(`/postgres -D ${folder} -c `)
}

/** Whether a process listens on the folder's socket. This works across containers too, where process ids mean nothing. */
export function answers(socketDir: string): Promise<boolean> {
  if (socketDir === '') return Promise.resolve(false)
  return new Promise((resolve) => {
    const socket = connect(socketPath(socketDir))
    socket.on('connect', () => {
      socket.destroy()
      resolve(true)
    })
    socket.on('error', (error) => {
      resolve(codeOf(error) === 'EAGAIN')
    })
  })
}

/** Makes sure that nothing runs at the place: stops an orphan (and returns true), or cleans up after a crash. */
export async function clearTheWay(place: Place): Promise<boolean> {
  const found = postmasterOf(place.folder)
  if (found !== undefined && runs(found.pid, place.folder)) {
    await bringDown(found.pid, () => !runs(found.pid, place.folder))
    return true
  }
  if (await answers(found?.socketDir ?? place.socketDir)) {
    throw new StartError(
      `${place.folder} is in use by a PostgreSQL that Postroad did not start here: ` +
        'stop it (it may run in another container, or through pg_ctl), then start again',
    )
  }
  // PostgreSQL respects both files while any process has the id in them, even one that only got the same number (in a container
  // that may be the very process we start next).
  rmSync(`${socketPath(place.socketDir)}.lock`, { force: true })
  if (found !== undefined) disown(place.folder)
  return false
}

function disown(folder: string): void {
  // PostgreSQL treats its parent's id as stale. Without the file, it would also skip its check that no process of the old
  // server still has the shared memory.
  const [, ...rest] = readFileSync(noteOf(folder), 'utf8').split('\n')
  writeFileSync(noteOf(folder), [process.pid, ...rest].join('\n'))
}

const STEPS = [
  ['SIGINT', 10_000],
  ['SIGQUIT', 10_000],
  ['SIGKILL', 5000],
] as const

/**
 * Stops a PostgreSQL: fast shutdown, after 10 s immediate, after 10 more SIGKILL. Resolves when `gone()`, or after the last
 * step.
 */
export async function bringDown(pid: number, gone: () => boolean): Promise<void> {
  for (const [signal, patienceMs] of STEPS) {
    if (!gone()) send(pid, signal)
    const end = performance.now() + patienceMs
    while (!gone() && performance.now() < end) await sleep(10)
    if (gone()) return
  }
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch (error) {
    if (codeOf(error) !== 'ESRCH') throw error
  }
}

function commandLine(pid: number): string {
  try {
    if (process.platform === 'linux') return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')
    return execFileSync('ps', ['-ww', '-o', 'command=', '-p', String(pid)], { encoding: 'utf8' })
  } catch {
    return ''
  }
}

function noteOf(folder: string): string {
  return join(folder, 'postmaster.pid')
}
