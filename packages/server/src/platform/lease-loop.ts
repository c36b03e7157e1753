import type { Clock } from './clock.ts'
import type { Leases } from './leases.ts'
import type { LoopRuns } from './loop-runs.ts'
import type { RetryLog } from './retry-log.ts'

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
  /** Returns how many rows failed and were left out, or nothing when it does not handle rows one by one. */
  readonly work: () => Promise<number | void>
  /** Makes a long run end early when the process stops. */
  readonly stop?: () => void | Promise<void>
}

export type RunningLoop = {
  start(): void
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
  let running: Promise<void> = Promise.resolve()
  let cancel = nothing
  const run = async (): Promise<void> => {
    let pauseMs = loop.everyMs
    try {
      if (loop.scope === 'process' || (await deps.leases.take(loop.name, loop.everyMs))) {
        const failedRows = (await loop.work()) ?? 0
        deps.loopRuns?.ended(loop.name, { well: true, failedRows })
      } else pauseMs = Math.max(loop.everyMs, ASK_MS_MIN)
    } catch (cause) {
      deps.loopRuns?.ended(loop.name, { well: false, failedRows: 0 })
      if (!stopping) deps.retryLog.warn(`${loop.name}_failed`, { cause })
    }
    if (!stopping) cancel = deps.clock.wakeAt(deps.clock.now() + pauseMs, tick)
  }
  const tick = (): void => {
    running = run()
  }
  return {
    start: tick,
    stop: () => {
      stopping = true
      cancel()
      const ended = loop.stop?.()
      return Promise.all([running, ended]).then(nothing)
    },
  }
}

function nothing(): void {
  // There is no wake-up to cancel yet.
}
