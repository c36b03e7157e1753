import type { Rng } from '../sim/rng.ts'
import { placeOf } from '../src/platform/postgres/place.ts'
import { bringDown, postmasterOf, runs } from '../src/platform/postgres/postmaster.ts'
import { childrenOf } from './children.ts'

/** The PostgreSQL of one data folder. Its processes are found by the folder, so no other PostgreSQL is ever touched. */
export type PostgresProcess = {
  /** Returns whether there was a postmaster to kill. */
  killPostmaster(): boolean
  /** Asks it to stop at once, as an operator does who restarts it. Returns whether there was one. */
  askPostmaster(): boolean
  /** Signals a random client backend. Returns false when there was none. */
  signalBackend(signal: 'SIGKILL' | 'SIGTERM', rng: Rng): boolean
  /** Stops the PostgreSQL that a killed server left running. */
  stop(): Promise<void>
  stopNow(): void
}

/** A client's backend, by the title that PostgreSQL gives its processes. */
const CLIENT_BACKEND = /^postgres: postroad_server postroad /

export function postgresProcess(dataDir: string): PostgresProcess {
  const running = (): number | undefined => {
    const { folder } = placeOf(dataDir)
    const pid = postmasterOf(folder)?.pid
    return pid !== undefined && runs(pid, folder) ? pid : undefined
  }
  const signalPostmaster = (signal: NodeJS.Signals): boolean => {
    const pid = running()
    return pid !== undefined && send(pid, signal)
  }
  return {
    killPostmaster: () => signalPostmaster('SIGKILL'),
    askPostmaster: () => signalPostmaster('SIGINT'),
    signalBackend: (signal, rng) => {
      const pid = running()
      const backends = pid === undefined ? [] : childrenOf(pid).filter((child) => CLIENT_BACKEND.test(child.title))
      return backends.length > 0 && send(rng.pick(backends).pid, signal)
    },
    stop: async () => {
      const pid = running()
      if (pid !== undefined) await bringDown(pid, () => running() !== pid)
    },
    // Immediate shutdown: unlike SIGKILL, it leaves no shared memory behind.
    stopNow: () => void signalPostmaster('SIGQUIT'),
  }
}

function send(pid: number, signal: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, signal)
  } catch {
    return false
  }
}
