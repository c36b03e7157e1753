import type { ErrorBody, Reason } from '@postroad/contract'
import { REASONS } from '@postroad/contract/plain'

type Fields = Omit<ErrorBody, 'error' | 'reason'>

/**
 * The only class for an expected "no". The table of reasons gives its status and default text; `fields` is for the caller,
 * `cause` is for the log.
 */
export class Refusal extends Error {
  readonly reason: Reason
  readonly status: number
  readonly fields: Fields

  constructor(reason: Reason, options: { text?: string; fields?: Fields; cause?: unknown } = {}) {
    super(options.text ?? REASONS[reason].text, { cause: options.cause })
    this.name = 'Refusal'
    this.reason = reason
    this.status = REASONS[reason].status
    this.fields = options.fields ?? {}
  }
}

/** `throw refuse('slug_taken')`, or with a sentence that is more specific than the table's. */
export function refuse(reason: Reason, text?: string): Refusal {
  return new Refusal(reason, text === undefined ? {} : { text })
}

/** The error body of contract part 2. */
export function errorBody(refusal: Refusal): ErrorBody {
  return { error: refusal.message, reason: refusal.reason, ...refusal.fields }
}
