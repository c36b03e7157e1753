import { readFileSync } from 'node:fs'
import { systemClock } from '../../src/platform/clock.ts'

const EVERY_MS = 5
const NS_PER_MS = 1_000_000
const PAGE_BYTES = 4_096
const MIB = 1_048_576

/** The time and the memory that a process used, as its system reports them. */
export type Usage = {
  /** The processor time of its event loop between two moments, in milliseconds. Other work of the machine does not lengthen it. */
  loopMs(from: number, to: number): number
  /** The processor time of all its threads between two moments. */
  allMs(from: number, to: number): number
  /** The highest memory between two moments, in MiB. */
  memoryMib(from: number, to: number): number
  stop(): void
}

type Sample = { readonly at: number; readonly loopMs: number; readonly allMs: number; readonly memoryMib: number }

/** Watches a process of this machine. Only Linux reports what its threads use. */
export function watchUsage(pid: number): Usage {
  const clock = systemClock()
  const samples: Sample[] = []
  const sample = (): void => {
    const at = clock.now()
    const read = readUsage(pid)
    if (read !== undefined) samples.push({ at, ...read })
  }
  sample()
  if (samples.length === 0) throw new Error('This scenario needs Linux, which reports the processor time of a thread.')
  const timer = setInterval(sample, EVERY_MS)
  /** The last sample at or before a moment. */
  const before = (at: number): number =>
    Math.max(
      0,
      samples.findLastIndex((one) => one.at <= at),
    )
  const between = (of: 'loopMs' | 'allMs', { from, to }: { from: number; to: number }): number =>
    (samples[Math.min(before(to) + 1, samples.length - 1)]?.[of] ?? 0) - (samples[before(from)]?.[of] ?? 0)
  return {
    loopMs: (from, to) => between('loopMs', { from, to }),
    allMs: (from, to) => between('allMs', { from, to }),
    memoryMib: (from, to) => Math.max(...samples.slice(before(from), before(to) + 1).map(({ memoryMib }) => memoryMib)),
    stop: () => clearInterval(timer),
  }
}

const TICK_MS = 10

function readUsage(pid: number): Omit<Sample, 'at'> | undefined {
  try {
    const [loopNs = '0'] = readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'latin1').split(' ')
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    // The name of the process, in parentheses, can have blanks. User time is the 12th field after it, and system time the 13th.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    const [, pages = '0'] = readFileSync(`/proc/${pid}/statm`, 'latin1').split(' ')
    return {
      loopMs: Number(loopNs) / NS_PER_MS,
      allMs: (Number(fields[11]) + Number(fields[12])) * TICK_MS,
      memoryMib: (Number(pages) * PAGE_BYTES) / MIB,
    }
  } catch {
    return undefined
  }
}
