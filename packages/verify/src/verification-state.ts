import type { VerificationScheme } from './settings.ts'

/**
 * How far a request is proven. `verified`: a signature or a certificate was checked. `authenticated`: it carried a shared
 * secret, and no signature of its content. `failed`: it did not pass. `unattempted`: no proof was required.
 */
export const VERIFICATION_STATES = ['verified', 'authenticated', 'failed', 'unattempted'] as const
export type VerificationState = (typeof VERIFICATION_STATES)[number]

/** The state of a request that passed the check of a scheme; undefined: there was no check. */
export function stateOfPassed(
  scheme: VerificationScheme | 'service_signature' | undefined,
): Exclude<VerificationState, 'failed'> {
  switch (scheme) {
    case undefined:
    case 'none':
      return 'unattempted'
    case 'static_token':
    case 'basic_auth':
      return 'authenticated'
    default:
      return 'verified'
  }
}
