import { LIMITS, type RouteAnswer, type RouteRequest, type Routes, type VerificationScheme } from '@postroad/contract'

/** A signature check as it stands in a form. A secret that is left empty is not sent. */
export type VerificationDraft = {
  readonly scheme: VerificationScheme
  readonly secret: string
  readonly toleranceSeconds: string
  readonly header: string
  readonly algorithm: 'sha256' | 'sha1'
  readonly encoding: 'hex' | 'base64'
  readonly prefix: string
}

export const OPEN: VerificationDraft = {
  scheme: 'none',
  secret: '',
  toleranceSeconds: String(LIMITS.toleranceSecondsDefault),
  header: 'X-Signature',
  algorithm: 'sha256',
  encoding: 'hex',
  prefix: '',
}

type Held = Pick<RouteAnswer<Routes['webhooks']['get']>['webhook'], 'verification'>

export function verificationDraftOf({ verification }: Held): VerificationDraft {
  const { scheme, header, algorithm, encoding, prefix, tolerance_seconds } = verification
  return {
    ...OPEN,
    scheme,
    header: header ?? OPEN.header,
    algorithm: algorithm ?? OPEN.algorithm,
    encoding: encoding ?? OPEN.encoding,
    prefix: prefix ?? OPEN.prefix,
    toleranceSeconds: String(tolerance_seconds ?? OPEN.toleranceSeconds),
  }
}

type Patch = NonNullable<RouteRequest<Routes['webhooks']['update']>['verification']>
type Create = NonNullable<RouteRequest<Routes['webhooks']['create']>['verification']>

/** What a change sends: the held secret stays when none is given. */
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
  }
}

/** The same for an endpoint that is being made: without a secret it answers 401 until one is set. */
export function createOf(draft: VerificationDraft): Create {
  const patch = patchOf(draft)
  return patch.scheme === 'none' || draft.secret !== '' ? patch : { ...patch, without_secret: true }
}
