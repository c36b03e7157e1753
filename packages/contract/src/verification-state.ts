import { stateOfPassed, VERIFICATION_STATES } from '@postroad/verify/state'
import { z } from 'zod'

export { stateOfPassed }

/** How far a stored event is proven. */
export const ProvenState = z
  .enum(VERIFICATION_STATES)
  .exclude(['failed'])
  .describe(
    '`verified`: a signature or a certificate was checked. `authenticated`: the request had the shared secret, without a signature. `unattempted`: no proof was required.',
  )
export type ProvenState = z.output<typeof ProvenState>
