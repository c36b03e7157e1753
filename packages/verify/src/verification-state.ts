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
  if (scheme === undefined || scheme === 'none') return 'unattempted'
  return scheme === 'static_token' || scheme === 'basic_auth' ? 'authenticated' : 'verified'
}
