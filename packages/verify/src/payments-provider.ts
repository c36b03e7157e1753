import type { Reading, Signed } from './reading.ts'
import { readTimestamped } from './timestamped.ts'

const HEADERS = ['Stripe-Signature', 'Payment-Signature'] as const

/** `t=<unix>,v1=<hex>` over `<t>.<body>` (contract part 2, "Endpoint verification"). */
export function readPaymentsProvider(headers: Signed['headers'], tolerance: number): Reading {
  return readTimestamped(headers, { headers: HEADERS, tolerance })
}
