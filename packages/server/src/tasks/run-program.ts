import { HeavyError, type Heavy } from '../platform/heavy/heavy.ts'
import { task } from '../platform/heavy/task.ts'
import { Program, type Fault, type Language, type ProgramInput, type Ran } from '../platform/sandbox/sandbox.ts'

/** The code of a version. The key names this code of this workspace, and no other; null: it runs once. */
export type Source = { readonly key: string | null; readonly code: string; readonly language: Language }
type Stored = Source & { readonly key: string }

type Asked = {
  readonly source: Source
  readonly inputs: readonly ProgramInput[]
  /** Shared memory with the index of the event that runs; absent: nobody reads it. */
  readonly running?: Int32Array
}

/** A compiled program takes about two megabytes, and its compilation some milliseconds. */
const RETAINED = 8
/** After this processor time the rest of a batch goes to the end of the queue, so that other workspaces have their turn. */
const TURN_MS = 500

const programs = new Map<string, Program>()

function programOf(source: Source): Program | Fault {
  if (source.key === null) return Program.compile(source)
  const found = programs.get(source.key) ?? Program.compile(source)
  if (!(found instanceof Program)) return found
  programs.delete(source.key)
  programs.set(source.key, found)
  for (const oldest of programs.keys()) {
    if (programs.size <= RETAINED) break
    programs.delete(oldest)
  }
  return found
}

const failedWith = (fault: Fault): Ran => ({ ok: false, fault, lines: [], linesDropped: 0, ticks: 0 })

/** Runs a program on events, in their order. The outcomes can be fewer than the events: the rest did not run. */
export const runProgram = task('transform.run', ({ source, inputs, running }: Asked): readonly Ran[] => {
  const before = process.threadCpuUsage()
  const program = programOf(source)
  if (!(program instanceof Program)) return inputs.map(() => failedWith(program))
  const outcomes: Ran[] = []
  for (const [index, input] of inputs.entries()) {
    if (running !== undefined) running[0] = index
    outcomes.push(program.run(input))
    const { user, system } = process.threadCpuUsage(before)
    if (user + system > TURN_MS * 1_000) break
  }
  return outcomes
})

/** A program that is only compiled; null: it has no fault. */
export const checkProgram = task('transform.check', ({ code, language }: Omit<Source, 'key'>): Fault | null => {
  const program = Program.compile({ code, language })
  return program instanceof Program ? null : program
})

/** A few steps of the engine count no time, so a thread that runs one for this long is ended. */
export const PROGRAM_RUN_MS = 30_000

const ENDED: Fault = {
  kind: 'timed_out',
  message: 'The program did not end in time. Look for work on very large numbers, lists or texts.',
  at: null,
}
const OVERWHELMED: Fault = {
  kind: 'memory',
  message: 'The program needed more memory than one event may take.',
  at: null,
}

type Waiting = {
  readonly input: ProgramInput
  readonly resolve: (ran: Ran) => void
  readonly reject: (cause: unknown) => void
}
type Queue = { readonly source: Stored; readonly workspaceId: string; readonly waiting: Waiting[] }

/** Runs programs of events in threads. */
export type Transformer = {
  /** Runs a program on one event. Rejects only when no thread could run it. */
  run(source: Stored, asked: { readonly workspaceId: string; readonly input: ProgramInput }): Promise<Ran>
}

const BATCH_MAX = 64
const BATCH_CHARS_MAX = 1_000_000

/**
 * Gives events of one program to a thread together: while a batch runs, the next one gathers. So a quiet program waits for nothing,
 * and a busy one pays for few messages.
 */
export function createTransformer(heavy: Heavy, runMs = PROGRAM_RUN_MS): Transformer {
  const queues = new Map<string, Queue>()

  /** Runs as many as it can, and leaves the others in the queue. */
  const runBatch = async ({ source, workspaceId, waiting }: Queue, batch: readonly Waiting[]): Promise<void> => {
    const running = new Int32Array(new SharedArrayBuffer(4)).fill(NONE)
    try {
      const outcomes = await heavy.run(runProgram, {
        workspaceId,
        payer: workspaceId,
        isPatient: true,
        runMs,
        input: { source, inputs: batch.map(({ input }) => input), running },
        work: Infinity,
      })
      for (const [index, outcome] of outcomes.entries()) batch[index]?.resolve(outcome)
      waiting.unshift(...batch.slice(outcomes.length))
    } catch (cause) {
      const fault = endedBy(cause)
      const at = running[0] ?? NONE
      // The compilation ended the thread when no event began.
      const ended = at === NONE ? batch : batch.slice(at, at + 1)
      if (fault === undefined) for (const { reject } of batch) reject(cause)
      else for (const { resolve } of ended) resolve(failedWith(fault))
      if (fault !== undefined) waiting.unshift(...batch.filter((one) => !ended.includes(one)))
    }
  }

  const serve = async (queue: Queue): Promise<void> => {
    // oxlint-disable-next-line no-await-in-loop -- the next batch gathers meanwhile
    while (queue.waiting.length > 0) await runBatch(queue, taken(queue.waiting))
    queues.delete(queue.source.key)
  }

  return {
    run: (source, { workspaceId, input }) => {
      const { promise, resolve, reject } = Promise.withResolvers<Ran>()
      const found = queues.get(source.key)
      const queue = found ?? { source, workspaceId, waiting: [] }
      queue.waiting.push({ input, resolve, reject })
      if (found === undefined) {
        queues.set(source.key, queue)
        void serve(queue)
      }
      return promise
    },
  }
}

const NONE = -1

/** The fault of an event that ended its thread; undefined: no event did. */
function endedBy(cause: unknown): Fault | undefined {
  const fault = cause instanceof HeavyError ? cause.fault : undefined
  return fault === 'slow' ? ENDED : fault === 'large' ? OVERWHELMED : undefined
}

function taken(waiting: Waiting[]): readonly Waiting[] {
  let chars = 0
  const count = waiting.findIndex(({ input }, index) => {
    chars += input.event.length
    return index === BATCH_MAX || (index > 0 && chars > BATCH_CHARS_MAX)
  })
  return waiting.splice(0, count === -1 ? waiting.length : count)
}
