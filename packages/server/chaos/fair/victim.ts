import { Agent } from 'node:http'
import { systemClock } from '../../src/platform/clock.ts'
import { exchange } from '../http.ts'
import type { Sink } from '../sink.ts'
import type { Stage } from '../stage.ts'

const EVERY_MS = 50
const HUNG_MS = 60_000
const PROBE_EVERY_MS = 500

/** One event of the tenant that nobody may delay. */
export type Sent = {
  readonly event: string
  readonly at: number
  /** undefined: no answer yet. */
  answeredAt: number | undefined
  status: number | 'broken' | 'hung' | undefined
}

export type Victim = {
  readonly sent: readonly Sent[]
  /** The probes of /healthz that failed. */
  readonly unhealthy: readonly string[]
  /** Stops sending, and resolves when every request under way has ended. */
  stop(): Promise<void>
}

export const VICTIM = 'victim'

/** Sends a small event every 50 ms, whether or not answers come, and asks the server for its health. */
export function startVictim(stage: Stage): Victim {
  const clock = systemClock()
  const agent = new Agent({ keepAlive: true })
  const sent: Sent[] = []
  const unhealthy: string[] = []
  const underWay = new Set<Promise<void>>()
  const start = (work: () => Promise<void>): void => {
    const one: Promise<void> = work().finally(() => underWay.delete(one))
    underWay.add(one)
  }
  const send = async (): Promise<void> => {
    const event: Sent = { event: `v${sent.length}`, at: clock.now(), answeredAt: undefined, status: undefined }
    sent.push(event)
    const reply = await exchange({
      method: 'POST',
      url: `${stage.endpoint}/${VICTIM}`,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ event: event.event }),
      agent,
      timeoutMs: HUNG_MS,
    })
    event.answeredAt = clock.now()
    event.status = typeof reply === 'string' ? reply : reply.status
  }
  const probe = async (): Promise<void> => {
    const url = new URL('/healthz', stage.endpoint).href
    // A balancer makes a connection for each probe.
    const once = new Agent()
    const reply = await exchange({ method: 'GET', url, agent: once, timeoutMs: HUNG_MS })
    once.destroy()
    if (typeof reply === 'string' || reply.status !== 200)
      unhealthy.push(typeof reply === 'string' ? reply : String(reply.status))
  }
  const timers = [setInterval(() => start(send), EVERY_MS), setInterval(() => start(probe), PROBE_EVERY_MS)]
  return {
    sent,
    unhealthy,
    stop: async () => {
      for (const timer of timers) clearInterval(timer)
      await Promise.all(underWay)
      agent.destroy()
    },
  }
}

/** When each event of the victim first arrived at its destination. */
export function arrivedAt({ receipts }: Sink): ReadonlyMap<string, number> {
  const first = new Map<string, number>()
  for (const { destination, event, at } of receipts.entries)
    if (destination === VICTIM && event !== null && !first.has(event)) first.set(event, at)
  return first
}
