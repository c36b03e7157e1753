import { TROUBLE_CAUSES } from './holds.ts'

/**
 * The light of a destination, an endpoint and a delivery: one word and one tone. Every list, detail view, palette and command uses
 * these functions, so no two places can disagree.
 */
export type Tone = 'ok' | 'retry' | 'fail' | 'paused' | 'sending' | 'rejected'
export type Light = {
  readonly tone: Tone
  readonly word: string
  /** The meaning, in a sentence. */
  readonly text: string
}

const ON: Light = { tone: 'ok', word: 'on', text: 'It is on.' }

export type DestinationLit = {
  readonly enabled: boolean
  readonly disabled_reason: 'by_hand' | 'gone' | 'failing' | null
  readonly breaker: {
    readonly state: 'closed' | 'open' | 'half_open' | 'recovering'
    readonly failures_in_row: number
  }
}

const OFF: Readonly<Record<NonNullable<DestinationLit['disabled_reason']>, Light>> = {
  by_hand: { tone: 'paused', word: 'off', text: 'Turned off by a member. Deliveries wait.' },
  gone: {
    tone: 'fail',
    word: 'disabled: gone',
    text: 'The receiver returned 410 Gone, so Postroad turned the destination off. Deliveries wait.',
  },
  failing: {
    tone: 'fail',
    word: 'disabled: failing',
    text: 'No delivery succeeded for 120 hours, so Postroad turned the destination off. Deliveries wait.',
  },
}

const BREAKERS: Readonly<Record<Exclude<DestinationLit['breaker']['state'], 'closed'>, Light>> = {
  open: { tone: 'fail', word: 'breaker open', text: 'Too many attempts failed. Deliveries wait for a probe.' },
  half_open: { tone: 'fail', word: 'probing', text: 'The circuit breaker is open, and a probe is in progress.' },
  recovering: {
    tone: 'retry',
    word: 'recovering',
    text: 'A probe succeeded. Postroad sends more requests after each success.',
  },
}

export function destinationLight({ enabled, disabled_reason, breaker }: DestinationLit): Light {
  if (!enabled) return OFF[disabled_reason ?? 'by_hand']
  if (breaker.state !== 'closed') return BREAKERS[breaker.state]
  return breaker.failures_in_row === 0
    ? ON
    : { tone: 'retry', word: 'failing', text: 'The last attempt failed. Postroad retries.' }
}

export type EndpointLit = {
  readonly enabled: boolean
  readonly verification: { readonly scheme: string; readonly has_secret?: boolean | undefined }
}

export function endpointLight({ enabled, verification }: EndpointLit): Light {
  if (!enabled)
    return { tone: 'paused', word: 'off', text: 'The endpoint is off, so Postroad returns 503 to all requests.' }
  if (verification.scheme !== 'none' && verification.has_secret !== true)
    return {
      tone: 'fail',
      word: 'no secret',
      text: 'The endpoint verifies signatures but has no secret, so Postroad returns 401 to all requests.',
    }
  return ON
}

export type DeliveryLit = {
  readonly state: 'pending' | 'sending' | 'delivered' | 'retrying' | 'failed' | 'paused' | 'cancelled'
  readonly held_by: { readonly cause: string } | null
}

const STATES: Readonly<Record<DeliveryLit['state'], Tone>> = {
  pending: 'sending',
  sending: 'sending',
  delivered: 'ok',
  retrying: 'retry',
  failed: 'fail',
  paused: 'paused',
  cancelled: 'rejected',
}

/** The word of a state for people. The wire name of one state has the British spelling. */
export const wordOf = (state: string): string => (state === 'cancelled' ? 'canceled' : state)

/** A delivery that its destination holds back is `held`, unless it is paused. In a queue its tone is `sending`. */
export function deliveryLight({ state, held_by }: DeliveryLit): Omit<Light, 'text'> {
  const tone = STATES[state]
  if (held_by === null) return { tone, word: wordOf(state) }
  const word = state === 'paused' ? state : 'held'
  if (!TROUBLE_CAUSES.has(held_by.cause)) return { tone: state === 'paused' ? tone : 'sending', word }
  return { tone: held_by.cause === 'breaker_recovering' ? 'retry' : 'fail', word }
}
