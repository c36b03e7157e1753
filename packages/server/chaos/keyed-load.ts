import { createHash } from 'node:crypto'
import { Agent } from 'node:http'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Rng } from '../sim/rng.ts'
import { systemClock } from '../src/platform/clock.ts'
import { exchange } from './http.ts'
import { Ledger } from './ledger.ts'
import { answerOf, type Answer, type Sent } from './load.ts'
import { payload } from './payload.ts'

export type KeyedLoad = {
  readonly sent: Ledger<Sent>
  readonly answers: Ledger<Answer>
  /** Starts no more events, and resolves when every sender has the answer that it wants, or has waited too long. */
  stop(): Promise<void>
}

export type KeyedLoadOptions = {
  readonly folder: string
  readonly seed: number
  readonly ratePerSecond: number
  readonly url: string
}

const TICK_MS = 5
const HUNG_MS = 15_000
/** The waiting senders must not overload a server that has just started. */
const SENDERS_MAX = 200
const PATIENCE_MS = 60_000

/**
 * Senders that retry: each event has an idempotency key and one to three senders. They send it at the same time and repeat it
 * until one of them gets a 200 or 201, and once more after that.
 */
export function startKeyedLoad({ folder, seed, ratePerSecond, url }: KeyedLoadOptions): KeyedLoad {
  const clock = systemClock()
  const rng = new Rng(seed)
  const agent = new Agent({ keepAlive: true, maxSockets: SENDERS_MAX })
  const sent = new Ledger<Sent>(join(folder, 'sent.jsonl'))
  const answers = new Ledger<Answer>(join(folder, 'answers.jsonl'))
  const underWay = new Set<Promise<void>>()
  const began = clock.now()
  let count = 0
  let patience = Infinity

  const sendOnce = async (event: string, body: string): Promise<boolean> => {
    const sentAt = clock.now()
    const headers = { 'content-type': 'application/json', 'idempotency-key': event }
    const answer = answerOf(await exchange({ method: 'POST', url, headers, body, agent, timeoutMs: HUNG_MS }))
    answers.note({ event, ...answer, sentAt, at: clock.now() })
    return answer.status === 200 || answer.status === 201
  }
  const keepSending = async (event: string, { body, waitMs }: { body: string; waitMs: number }): Promise<void> => {
    while (!(await sendOnce(event, body)) && clock.now() < patience) await sleep(waitMs)
    await sendOnce(event, body)
  }
  const begin = (number: number): void => {
    const event = `e${seed}-${String(number).padStart(7, '0')}`
    const body = payload(event, rng)
    sent.note({ event, dataset: '', sha256: createHash('sha256').update(body).digest('hex'), at: clock.now() })
    for (let senders = rng.int(1, 3); senders > 0; senders -= 1) {
      const one: Promise<void> = keepSending(event, { body, waitMs: rng.int(200, 1_000) }).finally(() =>
        underWay.delete(one),
      )
      underWay.add(one)
    }
  }
  const timer = setInterval(() => {
    const due = Math.floor(((clock.now() - began) * ratePerSecond) / 1_000)
    while (count < due && underWay.size < SENDERS_MAX) {
      begin(count)
      count += 1
    }
  }, TICK_MS)

  return {
    sent,
    answers,
    stop: async () => {
      clearInterval(timer)
      patience = clock.now() + PATIENCE_MS
      await Promise.all(underWay)
      agent.destroy()
      sent.close()
      answers.close()
    },
  }
}
