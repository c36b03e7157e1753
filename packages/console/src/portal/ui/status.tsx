import type { ReactElement } from 'react'
import { Chip, Glyph, type Tone } from '../../ui/glyph.tsx'
import type { Attempt, Delivery, Destination } from '../data/server.ts'

type Said = { readonly tone: Tone; readonly word: string; readonly text: string }

const OFF: Readonly<Record<NonNullable<Destination['disabled_reason']>, Said>> = {
  by_hand: { tone: 'paused', word: 'paused', text: 'Events wait until you resume the destination.' },
  gone: {
    tone: 'fail',
    word: 'turned off',
    text: 'Your server returned 410 Gone, so deliveries stopped. Events wait until you resume the destination.',
  },
  failing: {
    tone: 'fail',
    word: 'turned off',
    text: 'No delivery succeeded for 5 days, so deliveries stopped. Events wait until you resume the destination.',
  },
}

export function destinationSaid({ enabled, disabled_reason, last_24_hours }: Destination): Said {
  if (!enabled) return OFF[disabled_reason ?? 'by_hand']
  const { succeeded, failed } = last_24_hours
  if (failed > 0 && failed >= succeeded)
    return { tone: 'retry', word: 'failing', text: `${failed} of ${failed + succeeded} attempts failed in 24 hours.` }
  return { tone: 'ok', word: 'on', text: 'Events are delivered as they happen.' }
}

const STATUSES: Readonly<Record<Delivery['status'], Said>> = {
  pending: { tone: 'sending', word: 'waiting', text: 'Sending soon.' },
  sending: { tone: 'sending', word: 'sending', text: 'An attempt is in progress.' },
  delivered: { tone: 'ok', word: 'delivered', text: 'Your server accepted the event.' },
  retrying: { tone: 'retry', word: 'retrying', text: 'An attempt failed. It will be retried.' },
  failed: { tone: 'fail', word: 'failed', text: 'All attempts failed. You can retry the delivery.' },
  paused: { tone: 'paused', word: 'paused', text: 'Waiting.' },
  cancelled: { tone: 'rejected', word: 'canceled', text: 'Canceled. You can retry the delivery.' },
}

const PAUSES: Readonly<Record<NonNullable<Delivery['pause_reason']>, string>> = {
  workspace_suspended: 'Waiting, because the sender is suspended.',
  workspace_closed: 'Waiting, because the sender has closed its account.',
  destination_disabled: 'Waiting for you to resume the destination.',
  allowance_used: 'Waiting, because the sender has used up its monthly deliveries.',
}

/** Why the destination holds back a delivery that is due. */
const HELD: Readonly<Record<NonNullable<Delivery['held_by']>['cause'], Said>> = {
  destination_disabled: { tone: 'fail', word: 'held', text: 'It waits until you resume the destination.' },
  destination_off: { tone: 'paused', word: 'held', text: 'It waits until you resume the destination.' },
  breaker_open: {
    tone: 'fail',
    word: 'held',
    text: 'It waits, because your server failed too many times. One event is sent from time to time to see if it works again.',
  },
  breaker_recovering: {
    tone: 'retry',
    word: 'held',
    text: 'It waits its turn: your server works again, and gets more and more events.',
  },
  rate_limit: {
    tone: 'sending',
    word: 'held',
    text: 'It waits its turn, because of the rate limit of the destination.',
  },
  in_flight: { tone: 'sending', word: 'held', text: 'It waits its turn: your server is busy with other events.' },
  order: { tone: 'sending', word: 'held', text: 'It waits for an earlier event that has not been delivered.' },
}

export function deliverySaid({
  status,
  pause_reason,
  held_by,
}: Pick<Delivery, 'status' | 'pause_reason' | 'held_by'>): Said {
  if (pause_reason !== null) return { ...STATUSES[status], text: PAUSES[pause_reason] }
  return held_by === null ? STATUSES[status] : HELD[held_by.cause]
}

/** The statuses of the filter, in the order of the life of a delivery. */
export const STATUS_WORDS = (
  ['pending', 'sending', 'delivered', 'retrying', 'failed', 'paused', 'cancelled'] as const
).map((status) => ({ status, word: STATUSES[status].word }))

export function StatusChip({ of: { tone, word, text } }: { readonly of: Said }): ReactElement {
  return (
    <span title={text}>
      <Chip tone={tone}>{word}</Chip>
    </span>
  )
}

export function StatusGlyph({ of: { tone, word } }: { readonly of: Said }): ReactElement {
  return <Glyph tone={tone} label={word} />
}

const FAULTS: Readonly<Record<NonNullable<Attempt['error_code']>, string>> = {
  timeout: 'timed out',
  connection_refused: 'connection refused',
  connection_reset: 'connection lost',
  dns_failed: 'host name not found',
  tls_failed: 'TLS failed',
  blocked_address: 'address not allowed',
  redirect: 'redirect',
  response_too_large: 'response too large',
  bad_status: 'refused',
  invalid_url: 'invalid URL',
  proxy_failed: 'no connection',
  auth_failed: 'no access token',
  template_failed: 'no body',
  transform_failed: 'no body',
  refused: 'refused',
  event_too_large: 'event too large',
}

/** The status of the response, or the reason why there is none, in a word or two. */
export function answerText({
  response_status,
  error_code,
}: Pick<Attempt, 'response_status' | 'error_code'>): string | undefined {
  if (response_status !== null) return String(response_status)
  return error_code === null ? undefined : FAULTS[error_code]
}
