import { claimWsTriggers } from '../../../resources/sources/ws-triggers/queries.ts'
import { separately } from '../../../platform/separately.ts'
import type { SourceDeps } from '../ports.ts'
import { Listener } from './listener.ts'

/** The most connections of a process. */
const CONNECTIONS_MAX = 500
const AT_ONCE = 25
const LEASE_MS = 15_000

export type Listeners = {
  /** Renews the leases of the connections, ends those that must end, and takes triggers without a connection. */
  run(): Promise<void>
  /** Whether this process listens to a WebSocket. */
  busy(): boolean
  /** Closes every connection and releases the triggers. */
  stop(): Promise<void>
}

/** Listens to WebSockets. The lease of a row lets one process connect, and moves when that process dies. */
export function createListeners(deps: SourceDeps, owner: string): Listeners {
  const held = new Set<Listener>()
  let stopped = false
  const renew = () => {
    const until = new Date(deps.clock.now() + LEASE_MS)
    return Promise.all([...held].map((listener) => listener.renew(until)))
  }
  const take = async (): Promise<void> => {
    const limit = Math.min(AT_ONCE, CONNECTIONS_MAX - held.size)
    if (stopped || limit <= 0) return
    const now = deps.clock.now()
    const until = new Date(now + LEASE_MS)
    for (const trigger of await claimWsTriggers(deps.database, { owner, now: new Date(now), until, limit })) {
      const listener = new Listener(deps, trigger)
      held.add(listener)
      void listener.ended.then(() => held.delete(listener))
      if (stopped) void listener.stop()
    }
  }
  return {
    run: () => separately<() => Promise<unknown>>([renew, take], (part) => part()),
    busy: () => held.size > 0,
    stop: async () => {
      stopped = true
      await Promise.all([...held].map((listener) => listener.stop()))
    },
  }
}
