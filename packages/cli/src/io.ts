import { AsyncLocalStorage } from 'node:async_hooks'
import type { Readable, Writable } from 'node:stream'

/** An output. A terminal reports its size, and that it is a terminal. */
export type Output = Writable & { readonly isTTY?: boolean; readonly columns?: number; readonly rows?: number }

type Signals = Pick<NodeJS.EventEmitter, 'on' | 'once' | 'off'>

/** Everything that a command touches besides files and HTTP. */
export type Io = {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly stdin: Readable & { readonly isTTY?: boolean; readonly setRawMode?: (raw: boolean) => unknown }
  readonly stdout: Output
  readonly stderr: Output
  /** Where Ctrl-C and SIGTERM arrive; the process, if the caller names nothing else. */
  readonly signals?: Signals
  /** Replaces this process with another program; undefined where that is not possible. */
  readonly execve?: typeof process.execve
}

const running = new AsyncLocalStorage<Io>()

/** The input and output of the running command; outside a command, those of the process. */
export function io(): Io {
  return running.getStore() ?? process
}

/** Where the signals arrive that end the running command. */
export function signals(): Signals {
  return io().signals ?? process
}

/** Gives every command that `work` runs this input and output, even when several commands run at the same time. */
export function withIo<T>(own: Io, work: () => Promise<T>): Promise<T> {
  return running.run(own, work)
}

export function say(text: string): void {
  io().stdout.write(`${text}\n`)
}

export function complain(text: string): void {
  io().stderr.write(`${text}\n`)
}
