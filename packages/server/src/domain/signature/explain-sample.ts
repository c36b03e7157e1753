import type { VerificationScheme } from '@postroad/contract'
import { SIGNATURE_STEPS, type SignatureStep } from './reading.ts'
import { otherHeaderHints, type SchemeSettings } from './schemes.ts'
import type { ExplainedStep } from './explain.ts'

export type RefusedSignature = {
  readonly scheme: Exclude<VerificationScheme, 'none'>
  readonly failedStep: SignatureStep
  readonly detail: string
  readonly headerNames: readonly string[]
}

/** How far a refused signature got when its request came. No value of the request is stored, so nothing is checked again. */
export function explainRefused(of: RefusedSignature): readonly ExplainedStep[] {
  const isTimed = TIMED.has(of.scheme)
  const steps = SIGNATURE_STEPS.filter((step) => isTimed || (step !== 'timestamp' && step !== 'tolerance'))
  const failed = steps.indexOf(of.failedStep)
  return steps.map((step, at) => {
    if (at > failed) return { step, ok: null, text: 'The check ended before this step.' }
    return at < failed ? { step, ok: true, text: PASSED[step] } : { step, ok: false, text: of.detail }
  })
}

/** Headers of other schemes that the request carried. */
export function hintsOfRefused(
  settings: SchemeSettings,
  { headerNames, failedStep }: RefusedSignature,
): readonly string[] {
  if (failedStep !== 'header') return []
  return otherHeaderHints({ settings, headers: Object.fromEntries(headerNames.map((name) => [name, ''])) })
}

const TIMED: ReadonlySet<string> = new Set(['payments_provider', 'chat_platform', 'standard_webhooks'])

const PASSED: Readonly<Record<SignatureStep, string>> = {
  secret: 'The endpoint had a secret.',
  header: 'The request carried the header of the signature.',
  format: 'The header had the form of the scheme.',
  timestamp: 'The request carried a timestamp in Unix seconds.',
  digest: 'The signature was right for the body and the secret.',
  tolerance: 'The timestamp was near enough.',
}
