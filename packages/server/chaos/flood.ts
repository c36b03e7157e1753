import { Agent } from 'node:http'
import { Rng } from '../sim/rng.ts'
import { systemClock } from '../src/platform/clock.ts'
import { exchange } from './http.ts'
import type { Ledger } from './ledger.ts'

/** A request that must be refused, and the reason. */
export type Forgery = {
  readonly webhook: string
  readonly reason: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** Recorded before it leaves (`status` is null), and again after the answer. */
export type Forged = {
  readonly webhook: string
  readonly reason: string
  readonly status: number | 'broken' | 'hung' | null
  readonly at: number
}

export type FloodOptions = {
  readonly forgeries: readonly Forgery[]
  readonly forged: Ledger<Forged>
  readonly seed: number
  readonly connections: number
}

export type Flood = {
  /** Stops sending, and resolves when every request under way has ended. */
  stop(): Promise<void>
}

const ADDRESSES = 200
const HUNG_MS = 15_000
const BREATH_MS = 50

/** Senders that forge as fast as the answers come, each request from one of two hundred addresses of this machine. */
export function startFlood({ forgeries, forged, seed, connections }: FloodOptions): Flood {
  const clock = systemClock()
  const agent = new Agent({ keepAlive: true, maxSockets: connections })
  const over = new AbortController()
  const send = async (rng: Rng): Promise<void> => {
    while (!over.signal.aborted) {
      const { webhook, reason, url, headers, body } = rng.pick(forgeries)
      forged.note({ webhook, reason, status: null, at: clock.now() })
      const from = `127.0.1.${rng.int(1, ADDRESSES)}`
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      const reply = await exchange({ method: 'POST', url, headers, body, agent, from, timeoutMs: HUNG_MS })
      forged.note({ webhook, reason, status: typeof reply === 'string' ? reply : reply.status, at: clock.now() })
      // A server that is down refuses connections extremely fast.
      // oxlint-disable-next-line no-await-in-loop -- as above
      if (typeof reply === 'string') await new Promise((resolve) => setTimeout(resolve, BREATH_MS))
    }
  }
  const senders = Promise.all(Array.from({ length: connections }, (_none, sender) => send(new Rng(seed + sender))))
  return {
    stop: async () => {
      over.abort()
      await senders
      agent.destroy()
    },
  }
}
