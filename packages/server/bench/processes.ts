import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)
const MIB = 1_048_576
const TICKS_PER_SECOND = 100

/** Resident memory of one process in MiB. */
export async function residentMib(pid: number): Promise<number> {
  const { stdout } = await run('ps', ['-o', 'rss=', '-p', String(pid)])
  return (Number(stdout.trim()) * 1_024) / MIB
}

/**
 * Memory of the PostgreSQL in a data folder in MiB: all its processes, with shared memory counted once where the system reports
 * it (Linux), otherwise the sum of their resident memory.
 */
export async function postgresMib(folder: string): Promise<number> {
  const sizes = await Promise.all((await postgresPids(folder)).map(shareMib))
  return sizes.reduce((sum, size) => sum + size, 0)
}

/** The postmaster of a data folder and its children. */
async function postgresPids(folder: string): Promise<readonly number[]> {
  const [postmaster = ''] = (await readFile(join(folder, 'postgres', 'postmaster.pid'), 'utf8')).split('\n')
  const { stdout } = await run('ps', ['-A', '-o', 'pid=,ppid='])
  const rows = stdout.split('\n').map((line) => line.trim().split(/\s+/))
  const children = rows.filter(([, parent]) => parent === postmaster).map(([pid]) => Number(pid))
  return [Number(postmaster), ...children]
}

/** The processor time that these processes have used, in seconds; NaN on systems that do not report it (all but Linux). */
export async function processorSeconds(pids: readonly number[]): Promise<number> {
  const used = await Promise.all(pids.map(secondsOf))
  return used.reduce((sum, seconds) => sum + seconds, 0)
}

/**
 * The same of the PostgreSQL in a data folder, with the backends that have ended: their time is in the postmaster's. One that ends
 * during the look is not counted twice, because it is in neither.
 */
export async function postgresSeconds(folder: string): Promise<number> {
  const [postmaster, ...others] = await postgresPids(folder)
  const used = await Promise.all([
    secondsIn(`/proc/${postmaster}/stat`, [...OWN_TIMES, ...ENDED_TIMES]),
    ...others.map(secondsOf),
  ])
  return used.filter((seconds) => !Number.isNaN(seconds)).reduce((sum, seconds) => sum + seconds, 0)
}

/** The same of the thread that runs the event loop of a process. */
export const loopSeconds = (pid: number): Promise<number> => secondsIn(`/proc/${pid}/task/${pid}/stat`)

const secondsOf = (pid: number): Promise<number> => secondsIn(`/proc/${pid}/stat`)

/** User and system time among the fields after the name, of a process and of its children that have ended. */
const OWN_TIMES = [11, 12]
const ENDED_TIMES = [13, 14]

async function secondsIn(file: string, times = OWN_TIMES): Promise<number> {
  try {
    const stat = await readFile(file, 'latin1')
    // The name is in parentheses and can contain anything.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return times.reduce((sum, place) => sum + Number(fields[place]), 0) / TICKS_PER_SECOND
  } catch {
    return NaN
  }
}

/** Memory of one process in MiB, with its part of shared pages where the system reports it (Linux). */
export async function shareMib(pid: number): Promise<number> {
  try {
    const rollup = await readFile(`/proc/${pid}/smaps_rollup`, 'utf8')
    return (Number(/^Pss: +(\d+) kB/m.exec(rollup)?.[1] ?? 0) * 1_024) / MIB
  } catch {
    return residentMib(pid).catch(() => 0)
  }
}
