import { DELIVERY_HEADERS, LIMITS } from '@postroad/contract'
import { CHAIN_HEADER, hasPassed, readChain } from '../event-chain.ts'
import { reject, type Receiver } from '../types.ts'
import type { Check } from './passage.ts'

const HOPS = DELIVERY_HEADERS.hops.toLowerCase()
/** One more than any limit of hops, so that a count beyond the limits stays beyond them. */
const HOPS_COUNTED_MAX = LIMITS.hopsMax + 1

/**
 * Our own deliveries carry the number of hops of the event, and the services that it passed. Five hops are a loop, and
 * so is a second visit to this service. With the count alone, an endpoint with N destinations that lead back to it
 * could multiply each event to N^5.
 */
export const checkLoop: Check = (deps, passage) => {
  const { headers } = passage.captured
  const chain = readChain(headers[CHAIN_HEADER])
  const hops = Math.max(hopsIn(headers[HOPS]), chain.length)
  passage.hops = hops
  if (chain.length > 0) passage.chain = chain.join(', ')
  // A loop of workflows and agents is cut where it would start another (`route/start.ts`): the record itself is stored.
  if (passage.receiver.origin !== undefined) return undefined
  if (hops >= LIMITS.hopsMax) return reject('loop_detected')
  const isBack = chain.length > 0 && hasPassed(deps.cipher, { chain, id: idOf(passage.receiver) })
  return isBack ? reject('loop_detected') : undefined
}

/** The endpoint, whichever URL the event came by; otherwise the ingest key. */
function idOf({ webhook, ingestKeyId }: Receiver): string {
  return webhook?.id ?? ingestKeyId ?? ''
}

/**
 * The highest of the counts, because a proxy that sends a header twice must not restart the count. Text that is not a count is
 * ignored.
 */
function hopsIn(text: string | undefined): number {
  if (text === undefined) return 0
  const counts = text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => /^\d+$/.test(item))
  return Math.min(HOPS_COUNTED_MAX, Math.max(0, ...counts.map(Number)))
}
