import type { Reason } from '@postroad/contract'
import { Refusal } from '../domain/refusal.ts'
import { DbError } from '../platform/db.ts'
import { HeavyError, type HeavyFault } from '../platform/heavy/heavy.ts'

/** The refusal of a request that the server cannot serve at the moment; undefined for any other error. */
export function overloadedBy(error: unknown): Refusal | undefined {
  if (error instanceof HeavyError) {
    const { reason, retryAfterSeconds: retry_after } = OF_FAULT[error.fault]
    return new Refusal(reason, { ...(retry_after === undefined ? {} : { fields: { retry_after } }), cause: error })
  }
  if (!(error instanceof DbError && error.unavailable)) return undefined
  return new Refusal('overloaded', {
    text: 'The database does not respond. Try again in a moment.',
    fields: { retry_after: 1 },
    cause: error,
  })
}

/** The reason of a refusal because of a fault of the threads. The caller may ask again soon if it says when. */
export const OF_FAULT: Readonly<Record<HeavyFault, { readonly reason: Reason; readonly retryAfterSeconds?: number }>> =
  {
    full: { reason: 'work_limited', retryAfterSeconds: 1 },
    late: { reason: 'overloaded', retryAfterSeconds: 1 },
    slow: { reason: 'work_timed_out' },
    large: { reason: 'work_too_large' },
    stopped: { reason: 'overloaded', retryAfterSeconds: 1 },
  }
