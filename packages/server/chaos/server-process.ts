import { spawn, type ChildProcess } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { Rng } from '../sim/rng.ts'
import { systemClock } from '../src/platform/clock.ts'
import { childrenOf } from './children.ts'

/** One run of the server, from its spawn to its end. `unasked`: nobody killed or stopped it. */
export type Life = {
  readonly pid: number
  readonly from: number
  to: number | undefined
  end: 'killed' | 'stopped' | 'unasked' | undefined
}

export type ServerProcess = {
  readonly lives: readonly Life[]
  start(): void
  /** SIGKILL; resolves when the process has exited. */
  kill(): Promise<void>
  /** SIGHUP: another process takes the port over. */
  hangUp(): void
  /** The processes that share the port or took it over, by their ids; empty when the server is a single process. */
  workers(): readonly number[]
  /** SIGTERM of one of them. Returns false when it has ended meanwhile. */
  endWorker(pid: number): boolean
  /** SIGKILL of one of the processes that share the port. Returns false when there are none. */
  killWorker(rng: Rng): boolean
  /** SIGTERM, then SIGKILL if that takes longer than 30 s. */
  stop(): Promise<void>
  /** Kills the server at the very end of this process, when nothing can be awaited. */
  killNow(): void
}

export type ServerOptions = {
  readonly env: Readonly<Record<string, string>>
  readonly logFile: string
  /** Starts the server with this planted defect. */
  readonly plant: string | undefined
  /** The server uses this name server instead of the machine's. */
  readonly nameServer: string | undefined
}

const MAIN = fileURLToPath(new URL('../src/main.ts', import.meta.url))
const PLANTED = fileURLToPath(new URL('./planted-server.ts', import.meta.url))
const STOP_MS = 30_000

/** The real server as a child process. It may die at any moment and is restarted on the same data. */
export function serverProcess(options: ServerOptions): ServerProcess {
  const clock = systemClock()
  const composition = {
    ...(options.plant === undefined ? {} : { CHAOS_PLANT: options.plant }),
    ...(options.nameServer === undefined ? {} : { CHAOS_NAME_SERVER: options.nameServer }),
  }
  const isOrdinary = Object.keys(composition).length === 0
  const program = isOrdinary ? MAIN : PLANTED
  const lives: Life[] = []
  const env = { ...options.env, ...composition }
  let child: ChildProcess | undefined
  let gone: Promise<unknown> = Promise.resolve()

  const end = (signal: NodeJS.Signals, as: 'killed' | 'stopped'): void => {
    const life = lives.at(-1)
    if (life?.to !== undefined) return
    if (life !== undefined) life.end ??= as
    child?.kill(signal)
  }
  const workers = (): readonly number[] => {
    const all = child?.pid === undefined || child.exitCode !== null ? [] : childrenOf(child.pid)
    return all.filter(({ title }) => title.includes(program)).map(({ pid }) => pid)
  }
  return {
    lives,
    start: () => {
      const log = openSync(options.logFile, 'a')
      child = spawn(process.execPath, isOrdinary ? [program, 'serve'] : [program], { env, stdio: ['ignore', log, log] })
      closeSync(log)
      const life: Life = { pid: child.pid ?? 0, from: clock.now(), to: undefined, end: undefined }
      lives.push(life)
      const exited = Promise.withResolvers<void>()
      gone = exited.promise
      child.on('exit', () => {
        life.to = clock.now()
        life.end ??= 'unasked'
        exited.resolve()
      })
    },
    kill: async () => {
      end('SIGKILL', 'killed')
      await gone
    },
    hangUp: () => void child?.kill('SIGHUP'),
    workers,
    endWorker: (pid) => signalNow(pid, 'SIGTERM'),
    killWorker: (rng) => {
      const pids = workers()
      return pids.length > 0 && signalNow(rng.pick(pids), 'SIGKILL')
    },
    stop: async () => {
      end('SIGTERM', 'stopped')
      const patience = new AbortController()
      await Promise.race([gone, sleep(STOP_MS, undefined, { signal: patience.signal }).catch(() => undefined)])
      patience.abort()
      end('SIGKILL', 'killed')
      await gone
    },
    killNow: () => end('SIGKILL', 'killed'),
  }
}

/** Returns false when the process has ended meanwhile. */
function signalNow(pid: number, signal: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, signal)
  } catch {
    return false
  }
}

/** Runs one of the server's commands to its end, or kills it after a time. Returns its exit code and its output. */
export function runCommand(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  killAfterMs?: number,
): Promise<{ readonly code: number | null; readonly printed: string; readonly said: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [MAIN, ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] })
    let printed = ''
    let said = ''
    child.stdout.on('data', (chunk: Buffer) => (printed += chunk.toString()))
    child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()))
    const timer = killAfterMs === undefined ? undefined : setTimeout(() => child.kill('SIGKILL'), killAfterMs)
    child.on('error', reject)
    child.on('close', (code) => {
      clearTimeout(timer)
      resolve({ code, printed, said })
    })
  })
}
