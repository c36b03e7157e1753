import type { Signed, SignatureFailure } from './digest.ts'
import { verifyTimestamped } from './timestamped.ts'

const HEADERS = ['Stripe-Signature', 'Payment-Signature']

/** `t=<unix>,v1=<hex>` over `<t>.<body>` (contract part 2, "Endpoint verification"). */
export function verifyPaymentsProvider(request: Signed, tolerance: number): SignatureFailure | undefined {
  return verifyTimestamped(request, { headers: HEADERS, tolerance })
}
