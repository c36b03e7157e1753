import { spawn, type ChildProcess, type SpawnOptions } from 'node:child_process'
import { existsSync, rmSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

/** An event as the other system stores it. */
export type StoredEvent = { readonly id: string; readonly body: string }

/** A real server of another system, in a temporary folder and on a free port of 127.0.0.1. */
export type Broker = {
  readonly name: string
  /** The members of a destination that reach it: its url, config and auth. */
  readonly members: Readonly<Record<string, unknown>> & { readonly url: string; readonly config: object }
  /** Stops the server until it is killed, so that it does not respond (SIGSTOP). */
  readonly hang: () => void
  /** SIGKILL. */
  readonly kill: () => Promise<void>
  /** Starts the server again, and resolves when it answers. */
  readonly start: () => Promise<void>
  /** All events that the server has, with repeats, in its order if it has one. */
  readonly stored: () => Promise<readonly StoredEvent[]>
  /** Ends the server and removes its folder. */
  readonly stop: () => Promise<void>
}

/** TLS of a server, which demands a client certificate of the same authority. The server uses its own pair as its client too. */
export type ServerTls = {
  readonly ca: string
  readonly cert: string
  readonly key: string
  /** The host in the URL of the destination. */
  readonly host: string
}

export type Server = {
  readonly folder: string
  readonly port: number
  readonly hang: () => void
  readonly kill: () => Promise<void>
  readonly start: () => Promise<void>
  readonly stop: () => Promise<void>
}

type Program = { readonly file: string; readonly args: readonly string[]; readonly options?: SpawnOptions }
type Made = {
  readonly folder: string
  readonly port: number
  /** Makes the files of the server, once. */
  readonly prepare?: (at: { folder: string; port: number }) => Promise<void>
  readonly program: (at: { folder: string; port: number }) => Program
  /** Rejects while the server does not answer. */
  readonly ready: (at: { folder: string; port: number }) => Promise<unknown>
  /** A process that the server needs. It survives a kill of the server, and ends with the stop. */
  readonly beside?: ChildProcess
}

/** How to end each server that runs. A process that ends early, such as by a second Ctrl-C, leaves none of them behind. */
const running = new Set<() => void>()
process.once('exit', () => running.forEach((end) => end()))

const READY_TRIES = 600
const TRY_MS = 100

/** Runs a program in the foreground, in its own process group, so that a kill reaches all of it. */
export async function runServer({ folder, port, prepare, program, ready, beside }: Made): Promise<Server> {
  const at = { folder, port }
  await prepare?.(at)
  let child: ChildProcess | undefined
  const livingPid = (): number | undefined =>
    child?.exitCode === null && child.signalCode === null ? child.pid : undefined
  const kill = async (): Promise<void> => {
    const pid = livingPid()
    if (pid === undefined) return
    const ended = new Promise((resolve) => child?.once('exit', resolve))
    signalGroup(pid, 'SIGKILL')
    await ended
  }
  const endNow = (): void => {
    const pid = livingPid()
    if (pid !== undefined) signalGroup(pid, 'SIGKILL')
    beside?.kill('SIGKILL')
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  }
  const hang = (): void => {
    if (child?.pid !== undefined) signalGroup(child.pid, 'SIGSTOP')
  }
  const start = async (): Promise<void> => {
    const { file, args, options = {} } = program(at)
    child = spawn(file, args, { cwd: folder, stdio: 'ignore', ...options, detached: true })
    child.on('error', () => undefined)
    for (let tries = READY_TRIES; ; tries -= 1) {
      try {
        // oxlint-disable-next-line no-await-in-loop -- one try after the other
        return void (await ready(at))
      } catch (error) {
        if (tries === 0 || child.exitCode !== null) throw error
        // oxlint-disable-next-line no-await-in-loop -- as above
        await sleep(TRY_MS)
      }
    }
  }
  const stop = async (): Promise<void> => {
    await kill()
    beside?.kill('SIGKILL')
    await rm(folder, { recursive: true, force: true, maxRetries: 5 })
    running.delete(endNow)
  }
  running.add(endNow)
  await start()
  return { folder, port, hang, kill, start, stop }
}

function signalGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal)
  } catch {
    // The process has just ended.
  }
}

/** Writes the certificates into the folder of a server, and returns their paths. */
export async function tlsFilesIn(
  folder: string,
  { ca, cert, key }: ServerTls,
): Promise<{ readonly ca: string; readonly cert: string; readonly key: string }> {
  const paths = { ca: join(folder, 'ca.crt'), cert: join(folder, 'own.crt'), key: join(folder, 'own.key') }
  await Promise.all([writeFile(paths.ca, ca), writeFile(paths.cert, cert), writeFile(paths.key, key)])
  return paths
}

export const aFolder = (name: string): Promise<string> => mkdtemp(join(tmpdir(), `postroad-${name}-`))

export function aFreePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a TCP server has an address of this shape
      const { port } = server.address() as AddressInfo
      server.close(() => resolve(port))
    })
  })
}

/** The path of a program; undefined: it is not installed. `variable` of the environment can name another one. */
export function programOf(paths: readonly string[], variable: string): string | undefined {
  const named = process.env[variable]
  return named ?? paths.find((path) => existsSync(path))
}
