import { createHash } from 'node:crypto'
import { Agent } from 'node:http'
import { join } from 'node:path'
import { Rng } from '../sim/rng.ts'
import { systemClock } from '../src/platform/clock.ts'
import { exchange, type Reply } from './http.ts'
import { Ledger } from './ledger.ts'
import { payload } from './payload.ts'

/** Recorded before the request leaves. */
export type Sent = { readonly event: string; readonly dataset: string; readonly sha256: string; readonly at: number }

/** Recorded when the answer is complete, or when it is certain that none comes. */
export type Answer = {
  readonly event: string
  readonly status: number | 'broken' | 'hung'
  readonly retryAfter: string | null
  readonly record: string | null
  readonly sentAt: number
  readonly at: number
}

export type Load = {
  readonly sent: Ledger<Sent>
  readonly answers: Ledger<Answer>
  /** Stops sending, and resolves when every request under way has ended. */
  stop(): Promise<void>
}

/** How many of 100 events go to each dataset. A function is called again for each event. */
export type Shares = Readonly<Record<string, number>> | (() => Readonly<Record<string, number>>)

export type LoadOptions = {
  readonly folder: string
  readonly seed: number
  /** A function is called again every few milliseconds. */
  readonly ratePerSecond: number | (() => number)
  readonly urlOf: (dataset: string) => string
  readonly percent: Shares
  /** A request without an answer for this long hangs. Defaults to 15 s. */
  readonly hungMs?: number
  /** This many are sent at the same moment, at a correspondingly lower frequency. */
  readonly together?: number
}

const TICK_MS = 5
const HUNG_MS = 15_000
const IN_FLIGHT_MAX = 2_000

/**
 * Open-loop producers: they send at their rate whether or not answers come, each event once. They pause only while
 * `IN_FLIGHT_MAX` requests are unanswered, and catch up with no more events than that.
 */
export function startLoad(options: LoadOptions): Load {
  const clock = systemClock()
  const rng = new Rng(options.seed)
  const agent = new Agent({ keepAlive: true, maxSockets: IN_FLIGHT_MAX })
  const sent = new Ledger<Sent>(join(options.folder, 'sent.jsonl'))
  const answers = new Ledger<Answer>(join(options.folder, 'answers.jsonl'))
  const underWay = new Set<Promise<void>>()
  const { together = 1, hungMs = HUNG_MS, ratePerSecond } = options
  let [count, due, lookedAt] = [0, 0, clock.now()]

  const send = async (): Promise<void> => {
    const event = `e${options.seed}-${String(count).padStart(7, '0')}`
    const dataset = pickDataset(options.percent, rng)
    const body = payload(event, rng)
    const sentAt = clock.now()
    sent.note({ event, dataset, sha256: createHash('sha256').update(body).digest('hex'), at: sentAt })
    const headers = { 'content-type': 'application/json' }
    const reply = await exchange({
      method: 'POST',
      url: options.urlOf(dataset),
      headers,
      body,
      agent,
      timeoutMs: hungMs,
    })
    answers.note({ event, ...answerOf(reply), sentAt, at: clock.now() })
  }
  const timer = setInterval(() => {
    const [now, rate] = [clock.now(), typeof ratePerSecond === 'function' ? ratePerSecond() : ratePerSecond]
    due = Math.min(due + ((now - lookedAt) * rate) / 1_000, count + IN_FLIGHT_MAX)
    lookedAt = now
    const whole = Math.floor(due / together) * together
    while (count < whole && underWay.size < IN_FLIGHT_MAX) {
      const one: Promise<void> = send().finally(() => underWay.delete(one))
      underWay.add(one)
      count += 1
    }
  }, TICK_MS)

  return {
    sent,
    answers,
    stop: async () => {
      clearInterval(timer)
      await Promise.all(underWay)
      agent.destroy()
      sent.close()
      answers.close()
    },
  }
}

function pickDataset(shares: Shares, rng: Rng): string {
  const percent = typeof shares === 'function' ? shares() : shares
  let left = rng.between(0, 100)
  for (const [dataset, share] of Object.entries(percent)) {
    left -= share
    if (left < 0) return dataset
  }
  throw new Error('The shares of the datasets must add up to 100.')
}

/** The content of an answer. For an accepted event and for a repeat, that includes its record. */
export function answerOf(reply: Reply | 'broken' | 'hung'): Pick<Answer, 'status' | 'retryAfter' | 'record'> {
  if (typeof reply === 'string') return { status: reply, retryAfter: null, record: null }
  const { status, retryAfter } = reply
  return { status, retryAfter, record: status === 201 || status === 200 ? recordOf(reply.body) : null }
}

function recordOf(body: string): string | null {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the 201 body of the contract; a wrong one becomes null
  const { records } = JSON.parse(body) as { readonly records?: readonly { readonly id: string }[] }
  return records?.[0]?.id ?? null
}
