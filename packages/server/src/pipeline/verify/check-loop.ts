import { DELIVERY_HEADERS, LIMITS } from '@postroad/contract'
import { reject } from '../types.ts'
import type { Check } from './passage.ts'

const HOPS = DELIVERY_HEADERS.hops.toLowerCase()

/** Our own deliveries carry how many times the event has been through; five times is a circle. */
export const checkLoop: Check = (_deps, passage) => {
  const hops = hopsIn(passage.captured.headers[HOPS])
  passage.hops = hops
  return hops >= LIMITS.hopsMax ? reject('loop_detected') : undefined
}

/** The highest of the counts, for a proxy that sends a header twice must not begin the circle anew. What is no count counts nothing. */
function hopsIn(text: string | undefined): number {
  if (text === undefined) return 0
  const counts = text.split(',').map((item) => item.trim()).filter((item) => /^\d+$/.test(item))
  return Math.min(LIMITS.hopsMax, Math.max(0, ...counts.map(Number)))
}
