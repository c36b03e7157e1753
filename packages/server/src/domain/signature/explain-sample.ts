import type { VerificationScheme, VerificationSettings } from '@postroad/contract'
import {
  otherHeaderHints,
  SIGNATURE_STEPS,
  type ExplainedStep,
  type SchemeSettings,
  type SignatureStep,
} from '@postroad/verify/sync'

export type RefusedSignature = {
  readonly scheme: Exclude<VerificationScheme, 'none'>
  readonly failedStep: SignatureStep
  readonly detail: string
  readonly headerNames: readonly string[]
  /** Whether the endpoint's current settings check a timestamp. */
  readonly isTimed: boolean
}

/**
 * How far the check of a refused signature got when its request came. No value of the request is stored, so nothing is checked
 * again.
 */
export function explainRefused(of: RefusedSignature): readonly ExplainedStep[] {
  const hasTime = of.isTimed || of.failedStep === 'timestamp' || of.failedStep === 'tolerance'
  const steps = SIGNATURE_STEPS.filter((step) => hasTime || (step !== 'timestamp' && step !== 'tolerance'))
  const failed = steps.indexOf(of.failedStep)
  return steps.map((step, at) => {
    if (at > failed) return { step, ok: null, text: 'The check ended before this step.' }
    return at < failed ? { step, ok: true, text: PASSED[step] } : { step, ok: false, text: of.detail }
  })
}

/** Headers of other schemes in the request. */
export function hintsOfRefused(
  settings: SchemeSettings,
  { headerNames, failedStep }: RefusedSignature,
): readonly string[] {
  if (failedStep !== 'header') return []
  return otherHeaderHints({ settings, headers: Object.fromEntries(headerNames.map((name) => [name, ''])) })
}

const TIMED: ReadonlySet<string> = new Set([
  'payments_provider',
  'chat_platform',
  'standard_webhooks',
  'jwt',
  'oidc_bearer',
])

/** Whether a scheme checks a timestamp. Where its settings decide that, the endpoint's current settings count. */
export function isTimed(scheme: VerificationScheme, settings: VerificationSettings): boolean {
  if (TIMED.has(scheme)) return true
  return settings.scheme === scheme && 'signed' in settings && settings.signed.includes('{timestamp}')
}

const PASSED: Readonly<Record<SignatureStep, string>> = {
  secret: 'The endpoint had a secret.',
  header: 'The request had the signature header.',
  format: 'The header had the form of the scheme.',
  timestamp: 'The request had a timestamp in Unix seconds.',
  digest: 'The signature matched the body and the secret.',
  tolerance: 'The timestamp was within the tolerance.',
}
