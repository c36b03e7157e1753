import type { Clock } from './clock.ts'
import type { Leases } from './leases.ts'
import type { LoopRuns } from './loop-runs.ts'
import type { RetryLog } from './retry-log.ts'
import type { LoopWork } from './separate-rows.ts'

/** One background loop. */
export type Loop = {
  /** The name in the log and of its lease. */
  readonly name: string
  /** From the end of one run to the start of the next. */
  readonly everyMs: number
  /** The processes that run it: those with this role, or every one. */
  readonly role: 'every' | 'web' | 'deliver' | 'work'
  /** `process`: each of those processes runs it. `installation`: only the process that has the lease runs it. */
  readonly scope: 'process' | 'installation'
  /** Does all that is due. `rows` counts only rows that other loops may wait for. */
  readonly work: () => Promise<Partial<LoopWork> | void>
  /** Makes a long run end early when the process stops. */
  readonly stop?: () => void | Promise<void>
}

export type RunningLoop = {
  readonly name: string
  /** Runs it from now on, again and again. */
  start(): void
  /** One run, after the one under way. Resolves to the number of rows that it reports; rejects if it failed. */
  turn(): Promise<number>
  isUnderWay(): boolean
  /** Waits for the run under way. */
  stop(): Promise<void>
}

/** A process without the lease asks for it no more often than this. */
const ASK_MS_MIN = 5_000

/** Runs `work` repeatedly, one run at a time. Logs a failed run, and tries again after the same pause. */
export function createLeaseLoop(
  deps: {
    readonly clock: Clock
    readonly retryLog: RetryLog
    readonly leases: Leases
    readonly loopRuns?: LoopRuns
  },
  loop: Loop,
): RunningLoop {
  let stopping = false
  let last: Promise<void> = Promise.resolve()
  let underWay = 0
  let cancel = nothing
  const run = async (): Promise<number | 'elsewhere'> => {
    if (stopping) return 0
    try {
      if (loop.scope === 'installation' && !(await deps.leases.take(loop.name, loop.everyMs))) return 'elsewhere'
      const { rows = 0, failed = 0 } = (await loop.work()) ?? {}
      deps.loopRuns?.ended(loop.name, { well: true, failedRows: failed })
      return rows
    } catch (cause) {
      deps.loopRuns?.ended(loop.name, { well: false, failedRows: 0 })
      if (!stopping) deps.retryLog.warn(`${loop.name}_failed`, { cause })
      throw cause
    }
  }
  const next = (): Promise<number | 'elsewhere'> => {
    const running = (underWay === 0 ? run() : last.then(run)).finally(() => {
      underWay -= 1
    })
    underWay += 1
    last = running.then(nothing, nothing)
    return running
  }
  const tick = async (): Promise<void> => {
    const result = await next().catch(() => 0)
    const pauseMs = result === 'elsewhere' ? Math.max(loop.everyMs, ASK_MS_MIN) : loop.everyMs
    if (!stopping) cancel = deps.clock.wakeAt(deps.clock.now() + pauseMs, () => void tick())
  }
  return {
    name: loop.name,
    start: () => void tick(),
    turn: async () => {
      const found = await next()
      return found === 'elsewhere' ? 0 : found
    },
    isUnderWay: () => underWay > 0,
    stop: async () => {
      stopping = true
      cancel()
      await Promise.all([last, loop.stop?.()])
    },
  }
}

function nothing(): void {
  // There is no wake-up to cancel yet.
}
