import { Refusal } from '../domain/refusal.ts'
import { DbError } from '../platform/db.ts'

/** The refusal of a request that the database cannot serve at the moment; undefined for any other error. */
export function overloadedBy(error: unknown): Refusal | undefined {
  if (!(error instanceof DbError && error.unavailable)) return undefined
  return new Refusal('overloaded', {
    text: 'The database does not respond. Try again in a moment.',
    fields: { retry_after: 1 },
    cause: error,
  })
}
