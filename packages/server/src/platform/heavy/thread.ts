import { getCompileCacheDir } from 'node:module'
import { Worker } from 'node:worker_threads'

/** A message to a thread, and its answer. */
export type Asked = { readonly task: string; readonly input: unknown }
export type Answered = (
  | { readonly ok: true; readonly output: unknown }
  | { readonly ok: false; readonly error: unknown }
) & {
  /** The processor time of the task. */
  readonly cpuMs: number
}

/** The first message of a thread. */
export const READY = 'ready'

/** One thread. It runs one task at a time. */
export type Thread = {
  /** Rejects when the thread ends before it has answered. */
  run(asked: Asked): Promise<Answered>
  /** Resolves when it has loaded its tasks. */
  readonly ready: Promise<void>
  /** Resolves when it has ended, whatever the reason. It then takes no task. */
  readonly gone: Promise<void>
  end(): Promise<void>
}

/** The young generation is part of the memory of a thread, and is cleaned often, so more of it gains little. */
const YOUNG_MB = 32

/** The compiled code that the process stores, if it stores it: a thread then starts in half the time. */
function stored(): Record<string, string> {
  const folder = getCompileCacheDir()
  return folder === undefined ? {} : { NODE_COMPILE_CACHE: folder }
}

/**
 * Starts a thread that serves the tasks of `entry` (`serve.ts`). It sees none of the settings of the process. A thread without
 * work does not keep the process alive.
 */
export function startThread(entry: URL, { memoryMb }: { readonly memoryMb: number }): Thread {
  const worker = new Worker(entry, {
    name: 'heavy',
    env: stored(),
    resourceLimits: { maxOldGenerationSizeMb: memoryMb, maxYoungGenerationSizeMb: YOUNG_MB },
  })
  const { promise: gone, resolve: leave } = Promise.withResolvers<void>()
  const { promise: ready, resolve: begin } = Promise.withResolvers<void>()
  let waiting: PromiseWithResolvers<Answered> | undefined
  const settle = (use: (one: PromiseWithResolvers<Answered>) => void): void => {
    const one = waiting
    waiting = undefined
    worker.unref()
    if (one !== undefined) use(one)
  }
  worker.on('message', (answered: Answered | typeof READY) => {
    if (answered === READY) begin()
    else settle(({ resolve }) => resolve(answered))
  })
  worker.on('messageerror', (cause) => settle(({ reject }) => reject(cause)))
  const goneWith = (cause: unknown): void => {
    leave()
    settle(({ reject }) => reject(cause))
  }
  worker.on('error', goneWith)
  worker.on('exit', () => goneWith(new Error('The thread ended.')))
  worker.unref()
  return {
    run: (asked) => {
      const one = Promise.withResolvers<Answered>()
      waiting = one
      worker.ref()
      try {
        worker.postMessage(asked, [])
      } catch (cause) {
        settle(({ reject }) => reject(cause))
      }
      return one.promise
    },
    ready,
    gone,
    end: async () => {
      await worker.terminate()
    },
  }
}
