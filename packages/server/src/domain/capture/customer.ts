import type { CustomerPlace } from '@postroad/contract'
import { LIMITS } from '@postroad/contract/plain'
import { compilePlace, textOf as textOfValue, type Placed } from './place.ts'

/** Finds the customer_id of an event; undefined: the event names no customer. */
export type CustomerOf = (of: Placed) => string | undefined

/** undefined when no event of the endpoint names a customer. */
export function compileCustomer(place: CustomerPlace): CustomerOf | undefined {
  if (place === null) return undefined
  const { textOf } = compilePlace(place)
  return (of) => usable(textOf(of))
}

/** The customer_id in a value that a template rendered; undefined: it names no customer. */
export function customerIn(value: unknown): string | undefined {
  return usable(textOfValue(value))
}

function usable(found: string | undefined): string | undefined {
  const text = found?.trim()
  // No customer has a longer id, and the decision stores the id.
  return text === undefined || text.length > LIMITS.customerIdCharsMax ? undefined : text
}
