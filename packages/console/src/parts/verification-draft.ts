import { isAdditive, settingsIn, type AdditiveSettings } from './additive-schemes.ts'
import { LIMITS, type RouteAnswer, type RouteRequest, type Routes, type VerificationScheme } from '@postroad/contract'

/** A signature check in a form. An empty secret is not sent. */
export type VerificationDraft = {
  readonly scheme: VerificationScheme
  readonly secret: string
  readonly toleranceSeconds: string
  readonly header: string
  readonly algorithm: 'sha256' | 'sha1'
  readonly encoding: 'hex' | 'base64'
  readonly prefix: string
  /** The settings of an additive scheme. */
  readonly additive: AdditiveSettings
}

export const OPEN: VerificationDraft = {
  scheme: 'none',
  secret: '',
  toleranceSeconds: String(LIMITS.toleranceSecondsDefault),
  header: 'X-Signature',
  algorithm: 'sha256',
  encoding: 'hex',
  prefix: '',
  additive: {},
}

type Held = {
  readonly verification: Partial<RouteAnswer<Routes['webhooks']['get']>['webhook']['verification']> & {
    readonly scheme: VerificationScheme
  }
}

export function verificationDraftOf({ verification }: Held): VerificationDraft {
  const { scheme, header, algorithm, encoding, prefix, tolerance_seconds } = verification
  if (isAdditive(scheme)) return { ...OPEN, scheme, additive: settingsIn(verification) }
  return {
    ...OPEN,
    scheme,
    header: header ?? OPEN.header,
    algorithm: algorithm === 'sha1' ? algorithm : OPEN.algorithm,
    encoding: encoding === 'base64' ? encoding : OPEN.encoding,
    prefix: prefix ?? OPEN.prefix,
    toleranceSeconds: String(tolerance_seconds ?? OPEN.toleranceSeconds),
  }
}

type Patch = NonNullable<RouteRequest<Routes['webhooks']['update']>['verification']>
type Create = NonNullable<RouteRequest<Routes['webhooks']['create']>['verification']>

/** The body of a change; the stored secret stays when none is given. */
export function patchOf(draft: VerificationDraft): Patch {
  const { scheme, header, algorithm, encoding, prefix } = draft
  const secret = draft.secret === '' ? {} : { secret: draft.secret }
  const tolerance_seconds = Number(draft.toleranceSeconds)
  switch (scheme) {
    case 'none':
      return { scheme }
    case 'payments_provider':
    case 'chat_platform':
    case 'standard_webhooks':
      return { scheme, tolerance_seconds, ...secret }
    case 'code_host':
    case 'commerce_platform':
      return { scheme, ...secret }
    case 'hmac':
      return { scheme, header, algorithm, encoding, prefix, ...secret }
    case 'custom_hmac':
    case 'public_key':
    case 'static_token':
    case 'basic_auth':
    case 'jwt':
    case 'oidc_bearer':
    case 'aws_sns':
    case 'paypal':
      // The server checks the input and names its fault.
      return { scheme, ...draft.additive, ...secret }
  }
}

/** The body of a new endpoint. Without a secret, the endpoint answers 401 until one is set. */
export function createOf(draft: VerificationDraft): Create {
  const patch = patchOf(draft)
  if (patch.scheme === 'none') return patch
  const later = draft.secret === '' ? ({ without_secret: true } as const) : {}
  return patch.scheme === 'oidc_bearer' ? { ...patch, issuer: patch.issuer ?? '', ...later } : { ...patch, ...later }
}
