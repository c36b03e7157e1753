import { AsyncLocalStorage } from 'node:async_hooks'
import type { Readable, Writable } from 'node:stream'

/** An output: a terminal says its width, and whether it is one. */
export type Output = Writable & { readonly isTTY?: boolean; readonly columns?: number }

/** All that a command touches besides files and HTTP. */
export type Io = {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly stdin: Readable & { readonly isTTY?: boolean }
  readonly stdout: Output
  readonly stderr: Output
  /** Lets another program take the place of this process; undefined where that cannot be. */
  readonly execve?: typeof process.execve
}

const running = new AsyncLocalStorage<Io>()

/** What the running command reads and writes. Outside a command it is the process's own. */
export function io(): Io {
  return running.getStore() ?? process
}

/** Every command that `work` runs reads and writes here, however many run at the same time. */
export function withIo<T>(own: Io, work: () => Promise<T>): Promise<T> {
  return running.run(own, work)
}

export function say(text: string): void {
  io().stdout.write(`${text}\n`)
}

export function complain(text: string): void {
  io().stderr.write(`${text}\n`)
}
