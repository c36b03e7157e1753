import type { Clock } from './clock.ts'
import type { Leases } from './leases.ts'
import type { RetryLog } from './retry-log.ts'

/** One background loop. */
export type Loop = {
  /** Names it in the log, and its lease. */
  readonly name: string
  /** From the end of one run to the start of the next. */
  readonly everyMs: number
  /** Which processes run it: those with this role, or every one. */
  readonly role: 'every' | 'web' | 'deliver' | 'work'
  /** `process`: each of those processes runs it. `installation`: one of them at a time does, the one that holds the lease. */
  readonly scope: 'process' | 'installation'
  readonly work: () => Promise<void>
  /** Makes a long run end early when the process stops. */
  readonly stop?: () => void
}

export type RunningLoop = {
  start(): void
  /** Waits for the run under way. */
  stop(): Promise<void>
}

/** A process without the lease asks for it no more often than this. */
const ASK_MS_MIN = 5_000

/** Runs `work` again and again, one run at a time. It reports a run that failed, and tries again after the same pause. */
export function createLeaseLoop(
  deps: { readonly clock: Clock; readonly retryLog: RetryLog; readonly leases: Leases },
  loop: Loop,
): RunningLoop {
  let stopping = false
  let running: Promise<void> = Promise.resolve()
  let cancel = nothing
  const run = async (): Promise<void> => {
    let pauseMs = loop.everyMs
    try {
      if (loop.scope === 'process' || (await deps.leases.hold(loop.name, loop.everyMs))) await loop.work()
      else pauseMs = Math.max(loop.everyMs, ASK_MS_MIN)
    } catch (cause) {
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
      loop.stop?.()
      return running
    },
  }
}

function nothing(): void {
  // Until a wake-up is set that can be cancelled.
}
