import { readRetryAfter } from '../src/domain/delivery/retry-policy.ts'
import type { SendResult } from '../src/pipeline/deliver/ports.ts'
import type { Rng } from './rng.ts'

/** How a receiver behaves, apart from the faults of the network. */
export type Nature = 'healthy' | 'flaky' | 'slow' | 'throttled' | 'dead' | 'gone'

export interface Receiver {
  readonly lane: string
  readonly nature: Nature
  readonly timeoutMs: number
  outage: { readonly from: number; readonly to: number } | null
  clogged: boolean
  healed: boolean
  /** It stays dead when everything else is healed. */
  readonly hopeless: boolean
}

/** The fate of one request. `arrives_ms` null: the receiver never sees it. `accepts`: the receiver processes the event. */
export interface Fate {
  readonly arrives_ms: number | null
  readonly accepts: boolean
  readonly result_ms: number
  readonly result: SendResult
  /** The receiver's answer was lost or came after the deadline, so the sender cannot know it. */
  readonly hidden: boolean
}

export interface Network {
  readonly lostResponses: number
  readonly lateResponses: number
  readonly connectionErrors: number
  /** The chance that the process has no memory for the payload; absent: it always has. */
  readonly unsent?: number
}

const CONNECTION_ERRORS = ['connection_refused', 'connection_reset', 'dns_failed', 'tls_failed'] as const
const NONSENSE = [
  '',
  '-1',
  '1e9',
  'soon',
  '99999999999',
  'Sun, 99 Foo 2026 00:00:00 GMT',
  '3',
  '120',
  '86400',
  '9999999999',
]

/** Decides the fate of the request at the moment of sending; `network` has the chances of each fault. */
export function fateOf(receiver: Receiver, now: number, { rng, network }: { rng: Rng; network: Network }): Fate {
  if (network.unsent !== undefined && rng.chance(network.unsent)) return UNSENT
  if (receiver.clogged) return timeout(receiver, null)
  if (isOut(receiver, now)) return refusal(rng)
  if (rng.chance(network.connectionErrors)) return refusal(rng)
  const latencyMs = receiver.nature === 'slow' ? rng.between(500, receiver.timeoutMs * 0.9) : rng.between(5, 200)
  const arrives_ms = latencyMs / 2
  const status = statusOf(receiver, rng)
  const accepts = status === 200
  if (rng.chance(network.lostResponses)) {
    if (rng.chance(0.5)) return { ...timeout(receiver, arrives_ms), accepts, hidden: true }
    const result = { type: 'failure', error_code: 'connection_reset' } as const
    return { arrives_ms, accepts, result_ms: latencyMs, result, hidden: true }
  }
  if (rng.chance(network.lateResponses)) {
    return { ...timeout(receiver, receiver.timeoutMs + rng.between(1, 30_000)), accepts, hidden: true }
  }
  const retry_after_seconds = status === 429 || status === 503 ? readRetryAfter(rng.pick(NONSENSE), now) : null
  const result = { type: 'response', status, retry_after_seconds } as const
  return { arrives_ms, accepts, result_ms: latencyMs, result, hidden: false }
}

const UNSENT: Fate = { arrives_ms: null, accepts: false, result_ms: 1_000, result: { type: 'unsent' }, hidden: false }

function statusOf(receiver: Receiver, rng: Rng): number {
  if (receiver.healed) return 200
  if (receiver.nature === 'gone') return 410
  if (receiver.nature === 'flaky' && rng.chance(0.4)) return rng.pick([500, 502, 404, 302, 304])
  if (receiver.nature === 'throttled' && rng.chance(0.5)) return rng.pick([429, 503])
  return 200
}

function isOut(receiver: Receiver, now: number): boolean {
  if (receiver.nature === 'dead' && (receiver.hopeless || !receiver.healed)) return true
  return receiver.outage !== null && now >= receiver.outage.from && now < receiver.outage.to
}

function refusal(rng: Rng): Fate {
  const result = { type: 'failure', error_code: rng.pick(CONNECTION_ERRORS) } as const
  return { arrives_ms: null, accepts: false, result_ms: rng.between(1, 100), result, hidden: false }
}

function timeout(receiver: Receiver, arrives_ms: number | null): Fate {
  const result = { type: 'failure', error_code: 'timeout' } as const
  return { arrives_ms, accepts: false, result_ms: receiver.timeoutMs, result, hidden: false }
}
