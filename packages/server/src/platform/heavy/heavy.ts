import { stopwatch } from '../clock.ts'
import type { Log } from '../log.ts'
import { FairQueue } from './fair-queue.ts'
import type { Task } from './task.ts'
import { startThread, type Answered, type Thread } from './thread.ts'

/** Why a task has no output. */
export type HeavyFault =
  /** Its workspace has too many tasks waiting for clients. */
  | 'full'
  /** It waited too long for a thread. */
  | 'late'
  /** It ran for too long. */
  | 'slow'
  /** It needed too much memory. */
  | 'large'
  /** The process is stopping. */
  | 'stopped'

export class HeavyError extends Error {
  readonly fault: HeavyFault

  constructor(fault: HeavyFault, task: string) {
    super(`The task ${task} has no output: ${fault}.`)
    this.name = 'HeavyError'
    this.fault = fault
  }
}

export type HeavyAsked<Input> = {
  /** Whose work it is, or `INSTALLATION`. */
  readonly workspaceId: string
  /** A function makes it when a thread takes the task. */
  readonly input: Input | (() => Input)
  /** About how many characters it reads and writes. Work that is light runs here, because a thread would cost more. */
  readonly work: number
  /**
   * It waits as long as it must, because the loop that asks bounds how many such tasks there are; absent: a client waits for it,
   * who can ask again.
   */
  readonly isPatient?: boolean
  /** The payer of its processor time; absent: its workspace, and nobody for a patient task. */
  readonly payer?: string
  /** The longest time that it may run in a thread that has started; absent: as long as any task. */
  readonly runMs?: number
}

/** The tasks and the threads of the room, since the start and at the moment. */
export type HeavyLoad = {
  readonly threads: number
  readonly waiting: number
  /** Tasks that ran in threads, by their names. */
  readonly ran: ReadonlyMap<string, number>
  readonly cpuMs: number
  readonly faults: number
}

/** The room for work that would delay the loop: everything that takes long for input of a tenant. */
export type Heavy = {
  /** Rejects with a `HeavyError`, or with the error of the task. */
  run<Input, Output>(task: Task<Input, Output>, asked: HeavyAsked<Input>): Promise<Output>
  readonly load: () => HeavyLoad
  /** Ends all threads. Tasks that wait or run are stopped. */
  close(): Promise<void>
}

/**
 * The owner of tasks of loops that serve all workspaces one after another. If such a task waited for the others of its
 * workspace, one workspace with many tasks would stop the loop for all.
 */
export const INSTALLATION = 'installation'

export type HeavyOptions = {
  /** The module that a thread runs. */
  readonly entry: URL
  readonly threadsMax: number
  readonly log: Log
  /** Gets the processor time of each task that somebody pays for. */
  readonly charge?: (payer: string, ms: number) => void
  /** For tests with small limits. */
  readonly limits?: Partial<HeavyLimits>
}

export type HeavyLimits = typeof LIMITS

/** Work up to this takes about a millisecond. */
export const LIGHT_WORK = 65_536

const LIMITS = {
  /** The memory of a thread beside its young generation. The largest legal input needs less than half of it. */
  memoryMb: 384,
  /** In real time, because nothing else ends a task that never ends. Every task is limited by its input long before. */
  runMs: 60_000,
  waitMs: 30_000,
  waitingMax: 200,
  /** A thread without work ends after this time. */
  idleMs: 60_000,
  /** A workspace has at most this many threads, and never all of them. */
  eachMax: 2,
}

type Waiting = {
  readonly task: string
  readonly payer: string | undefined
  readonly workspaceId: string
  readonly isPatient: boolean
  readonly runMs: number | undefined
  readonly input: unknown
  readonly waitedMs: () => number
  readonly resolve: (output: unknown) => void
  readonly reject: (cause: unknown) => void
}

/**
 * Threads start when there is work for them and end without it, so a small process has none. Workspaces take turns, and a task
 * that exceeds a limit is ended with its thread.
 */
export function createHeavy(options: HeavyOptions): Heavy {
  return new Room(options)
}

class Room implements Heavy {
  readonly #options: HeavyOptions
  readonly #limits: HeavyLimits
  readonly #queue: FairQueue<Waiting>
  readonly #busy = new Set<Thread>()
  /** Idle threads, each with the timer that ends it. */
  readonly #idle = new Map<Thread, NodeJS.Timeout>()
  readonly #ran = new Map<string, number>()
  #cpuMs = 0
  #faults = 0
  #closed = false

  constructor(options: HeavyOptions) {
    this.#options = options
    this.#limits = { ...LIMITS, ...options.limits }
    this.#queue = new FairQueue(Math.max(1, Math.min(this.#limits.eachMax, options.threadsMax - 1)))
  }

  async run<Input, Output>(task: Task<Input, Output>, asked: HeavyAsked<Input>): Promise<Output> {
    const { workspaceId, input, isPatient = false, runMs } = asked
    const payer = asked.payer ?? (isPatient ? undefined : workspaceId)
    if (asked.work <= LIGHT_WORK) {
      this.#charge({ payer }, asked.work / LIGHT_WORK)
      return task.run(madeOf(input))
    }
    if (this.#closed) throw new HeavyError('stopped', task.name)
    if (!isPatient && this.#isFull(workspaceId)) throw this.#fault('full', task.name)
    const { promise, resolve, reject } = Promise.withResolvers<unknown>()
    const waiting = { workspaceId, payer, isPatient, runMs, input, waitedMs: stopwatch(), resolve, reject }
    this.#queue.add(workspaceId, { task: task.name, ...waiting })
    this.#start()
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the task with this name made it
    return (await promise) as Output
  }

  #isFull(workspaceId: string): boolean {
    const waiting = this.#queue.waitingOf(workspaceId).filter(({ isPatient }) => !isPatient)
    return waiting.length >= this.#limits.waitingMax
  }

  readonly load = (): HeavyLoad => ({
    threads: this.#busy.size + this.#idle.size,
    waiting: this.#queue.size,
    ran: this.#ran,
    cpuMs: this.#cpuMs,
    faults: this.#faults,
  })

  async close(): Promise<void> {
    this.#closed = true
    for (const { task, reject } of this.#queue.drain()) reject(new HeavyError('stopped', task))
    const threads = [...this.#busy, ...this.#idle.keys()]
    for (const end of this.#idle.values()) clearTimeout(end)
    this.#idle.clear()
    await Promise.all(threads.map((thread) => thread.end()))
  }

  /** Gives waiting tasks to threads, as long as there are both. */
  #start(): void {
    while (this.#busy.size < this.#options.threadsMax) {
      const next = this.#queue.take()
      if (next === undefined) return
      if (!next.isPatient && next.waitedMs() > this.#limits.waitMs) {
        this.#queue.ended(next.workspaceId)
        next.reject(this.#fault('late', next.task))
      } else void this.#runOn(this.#thread(), next)
    }
  }

  /** An idle thread, or a new one. */
  #thread(): Thread {
    const [idle] = this.#idle.keys()
    if (idle === undefined) {
      const thread = startThread(this.#options.entry, this.#limits)
      void thread.gone.then(() => this.#notIdle(thread))
      return thread
    }
    this.#notIdle(idle)
    return idle
  }

  #notIdle(thread: Thread): void {
    clearTimeout(this.#idle.get(thread))
    this.#idle.delete(thread)
  }

  async #runOn(thread: Thread, waiting: Waiting): Promise<void> {
    const { task, workspaceId, input, waitedMs, resolve, reject } = waiting
    this.#busy.add(thread)
    const { log } = this.#options
    const [waited, ranMs] = [waitedMs(), stopwatch()]
    let isSlow = false
    const end = (): void => {
      isSlow = true
      void thread.end()
    }
    const limits = [setTimeout(end, this.#limits.runMs)]
    const { runMs } = waiting
    if (runMs !== undefined) void thread.ready.then(() => limits.push(setTimeout(end, runMs)))
    const about = () => ({ task, workspace_id: workspaceId, waited_ms: Math.round(waited), ms: Math.round(ranMs()) })
    try {
      const answered = await thread.run({ task, input: madeOf(input) })
      this.#count(task, answered)
      this.#charge(waiting, answered.cpuMs)
      log.debug('heavy.ran', { ...about(), cpu_ms: Math.round(answered.cpuMs) })
      this.#rest(thread)
      if (answered.ok) resolve(answered.output)
      else reject(answered.error)
    } catch (cause) {
      // The thread is gone, and the next task gets another.
      void thread.end()
      this.#charge(waiting, ranMs())
      const fault = this.#closed ? 'stopped' : isSlow ? 'slow' : isOutOfMemory(cause) ? 'large' : undefined
      if (!this.#closed) log.warn('heavy.failed', { ...about(), fault, cause })
      reject(fault === undefined ? cause : this.#fault(fault, task))
    } finally {
      for (const limit of limits) clearTimeout(limit)
      this.#busy.delete(thread)
      this.#queue.ended(workspaceId)
      if (!this.#closed) this.#start()
    }
  }

  #charge({ payer }: Pick<Waiting, 'payer'>, ms: number): void {
    if (payer !== undefined) this.#options.charge?.(payer, ms)
  }

  #count(task: string, { cpuMs }: Answered): void {
    this.#ran.set(task, (this.#ran.get(task) ?? 0) + 1)
    this.#cpuMs += cpuMs
  }

  #rest(thread: Thread): void {
    if (this.#closed) return
    const end = setTimeout(() => {
      this.#notIdle(thread)
      void thread.end()
    }, this.#limits.idleMs)
    // Waiting for it does not keep the process alive.
    end.unref()
    this.#idle.set(thread, end)
  }

  #fault(fault: HeavyFault, task: string): HeavyError {
    this.#faults += 1
    return new HeavyError(fault, task)
  }
}

/** An input is data, so a function is never one itself. */
function madeOf<Input>(input: Input | (() => Input)): Input {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as above
  return typeof input === 'function' ? (input as () => Input)() : input
}

const isOutOfMemory = (cause: unknown): boolean =>
  cause instanceof Error && 'code' in cause && cause.code === 'ERR_WORKER_OUT_OF_MEMORY'
