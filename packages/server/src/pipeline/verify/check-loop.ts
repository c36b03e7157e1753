import { DELIVERY_HEADERS, LIMITS } from '@postroad/contract'
import { reject } from '../types.ts'
import type { Check } from './passage.ts'

const HOPS = DELIVERY_HEADERS.hops.toLowerCase()

/** Our own deliveries carry how many times the event has been through; five times is a circle. */
export const checkLoop: Check = (_deps, passage) => {
  const text = passage.captured.headers[HOPS]
  const hops = text !== undefined && /^\d{1,4}$/.test(text) ? Number(text) : 0
  passage.hops = hops
  return hops >= LIMITS.hopsMax ? reject('loop_detected') : undefined
}
