import { fork } from 'node:child_process'
import { installRivals } from './install-rivals.ts'

/** The requests that a process of the bench answers: one message in, one out. */
// oxlint-disable-next-line typescript/no-explicit-any -- only `Child` and `answer` see it, and both take the types of the verbs
export type Verbs = Readonly<Record<string, (input: any) => unknown>>

export type Child<V extends Verbs> = {
  readonly pid: number
  ask<Name extends keyof V & string>(verb: Name, input: Parameters<V[Name]>[0]): Promise<Awaited<ReturnType<V[Name]>>>
  /** Ends the process and waits until it has exited. */
  stop(): Promise<void>
}

type Question = { readonly id: number; readonly verb: string; readonly input: unknown }
type Reply = { readonly id: number; readonly value?: unknown; readonly error?: string }

/** Starts a file of this folder as a separate process, so that its cost does not affect the measured process. */
export function startChild<V extends Verbs>(file: string): Child<V> {
  if (file.startsWith('rivals/')) installRivals()
  const child = fork(new URL(file, import.meta.url), { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
  const open = new Map<number, { resolve: (value: unknown) => void; reject: (error: Error) => void }>()
  const gone = Promise.withResolvers<void>()
  let last = 0
  child.on('message', ({ id, value, error }: Reply) => {
    const asked = open.get(id)
    open.delete(id)
    if (error === undefined) asked?.resolve(value)
    else asked?.reject(new Error(`${file}: ${error}`))
  })
  child.on('exit', () => {
    for (const { reject } of open.values()) reject(new Error(`${file} ended before it answered.`))
    gone.resolve()
  })
  return {
    pid: child.pid ?? 0,
    ask: (verb, input) => {
      last += 1
      const { promise, resolve, reject } = Promise.withResolvers<unknown>()
      open.set(last, { resolve, reject })
      child.send({ id: last, verb, input } satisfies Question)
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the process answers with the verbs of this type
      return promise as ReturnType<Child<V>['ask']>
    },
    stop: () => {
      child.kill('SIGTERM')
      return gone.promise
    },
  }
}

/** In the child: answers the parent's requests, and exits when the parent has exited. */
export function answer(verbs: Verbs): void {
  process.on('disconnect', () => process.exit())
  process.on('message', (question: Question) => {
    void reply(verbs, question).then((text) => process.send?.(text))
  })
}

async function reply(verbs: Verbs, { id, verb, input }: Question): Promise<Reply> {
  try {
    return { id, value: await verbs[verb]?.(input) }
  } catch (error) {
    return { id, error: error instanceof Error ? (error.stack ?? error.message) : String(error) }
  }
}
