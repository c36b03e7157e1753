import type { ReactElement } from 'react'
import type { SentRequest } from '@postroad/contract'

const REASONS = {
  mapped: 'A mapping made this record, so it has no request as received. Its payload is sent.',
  no_request: 'No sender sent this event, so it has no request as received. Its payload is sent.',
} as const

/** The reason why a destination that wants the request as received gets only the payload. */
export function BodyNote({ of }: { readonly of: Pick<SentRequest, 'body_reason'> }): ReactElement | null {
  const { body_reason: reason } = of
  return reason === null ? null : <p className="my-1 text-data text-ink-3">{REASONS[reason]}</p>
}
