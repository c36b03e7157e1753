import type { Clock } from './clock.ts'
import type { Due, DueBoard } from './due-board.ts'
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
  /**
   * Finds a row when there may be work. The loop then starts a run only when it finds one, when the last run had work, when it is
   * `busy`, and at least every `atLeastEveryMs`. Undefined: it starts one each time.
   */
  readonly due?: Due | undefined
  readonly atLeastEveryMs?: number
  /** Whether it has work that is not in the database, such as open connections. */
  readonly busy?: () => boolean
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
/** Loops that ask whether there is work do so at the same moments, so that they share the answer. */
const BEAT_MS = 1_000
/** A loop without work asks no more often than this. */
const IDLE_MS_MIN = 1_000
const AT_LEAST_EVERY_MS = 30_000

/** Runs `work` repeatedly, one run at a time. Logs a failed run, and tries again after the same pause. */
export function createLeaseLoop(
  deps: {
    readonly clock: Clock
    readonly retryLog: RetryLog
    readonly leases: Leases
    readonly loopRuns?: LoopRuns
    readonly dueBoard?: DueBoard
  },
  loop: Loop,
): RunningLoop {
  let stopping = false
  let last: Promise<void> = Promise.resolve()
  let underWay = 0
  let cancel = nothing
  let lastRows = 0
  let lastRunAt = -Infinity
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
  /** If the board fails, there may be work. The run then fails by itself, and the log says why. */
  const hasWork = async (): Promise<boolean> =>
    loop.due === undefined ||
    deps.dueBoard === undefined ||
    lastRows > 0 ||
    loop.busy?.() === true ||
    deps.clock.now() - lastRunAt >= (loop.atLeastEveryMs ?? AT_LEAST_EVERY_MS) ||
    (await deps.dueBoard.isDue(loop.name).catch(() => true))
  /** Returns the pause until the next look. */
  const look = async (): Promise<number> => {
    if (!(await hasWork())) return Math.max(loop.everyMs, IDLE_MS_MIN)
    lastRunAt = deps.clock.now()
    const result = await next().catch(() => 0)
    lastRows = result === 'elsewhere' ? 0 : result
    return result === 'elsewhere' ? Math.max(loop.everyMs, ASK_MS_MIN) : loop.everyMs
  }
  const tick = async (): Promise<void> => {
    const pauseMs = await look()
    if (stopping) return
    const now = deps.clock.now()
    const from = loop.due === undefined ? now : now - (now % Math.min(pauseMs, BEAT_MS))
    cancel = deps.clock.wakeAt(from + pauseMs, () => void tick())
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
