import type { Reason } from '@postroad/contract'
import { Refusal } from '../domain/refusal.ts'
import { DbError } from '../platform/db.ts'
import { HeavyError, type HeavyFault } from '../platform/heavy/heavy.ts'

/** The refusal of a request that the server cannot serve at the moment; undefined for any other error. */
export function overloadedBy(error: unknown): Refusal | undefined {
  if (error instanceof HeavyError) return new Refusal(REASON_OF[error.fault], { ...RETRY[error.fault], cause: error })
  if (!(error instanceof DbError && error.unavailable)) return undefined
  return new Refusal('overloaded', {
    text: 'The database does not respond. Try again in a moment.',
    fields: { retry_after: 1 },
    cause: error,
  })
}

const REASON_OF: Readonly<Record<HeavyFault, Reason>> = {
  full: 'work_limited',
  late: 'overloaded',
  slow: 'work_timed_out',
  large: 'work_too_large',
  stopped: 'overloaded',
}
const SOON = { fields: { retry_after: 1 } }
const RETRY: Readonly<Partial<Record<HeavyFault, typeof SOON>>> = { full: SOON, late: SOON, stopped: SOON }
