import type { Deps } from '../../../context.ts'
import { Refusal } from '../../../domain/refusal.ts'
import { hasRoom, type Limit } from '../throttles/index.ts'

/** Counts one request of a source, on all nodes together. Throws 429 `rate_limited`. */
export async function requireRoomFor(
  deps: Deps,
  of: Limit & { readonly what: string; readonly whose: string },
): Promise<void> {
  if (await hasRoom(deps, of)) return
  throw new Refusal('rate_limited', {
    text: 'Too many requests from this address. Continue after retry_after seconds.',
    fields: { retry_after: Math.ceil(of.refillMs / 1_000) },
  })
}
