import { bytesOf, isSigned } from '#crypto'
import { isTokenAlgorithm, keysFor, keysUrlIn, type TokenAlgorithm } from './key-set.ts'
import { claimIn, tokenIn, type Token } from './json-web-token.ts'
import { malformed, missing, type Needed, type Reading, type Signed, type SignatureFailure } from './reading.ts'
import type { VerificationSettings } from './settings.ts'
import { valueIn, type Called } from './signed-content.ts'
import { isSame } from './static-token.ts'
import { urlSpellings } from './url-spellings.ts'

export type OidcSettings = Extract<VerificationSettings, { scheme: 'oidc_bearer' }>
type Request = Called & Pick<Signed, 'fetched'>

/** How many keys with one id are tried. */
const CHECKED_MAX = 4

/**
 * A token that an OpenID Connect issuer signed for this audience. Anyone can get a token of a public issuer for any
 * audience, so the secret is the identity that the token must name, such as the email address of a service account.
 */
export function readOidcBearer(request: Request, settings: OidcSettings): Reading {
  const { header, prefix, tolerance_seconds: tolerance, identity_claim: claim } = settings
  const value = valueIn(request.headers, header)
  const token = value === undefined ? undefined : tokenAfter(prefix, value)
  const form = `${prefix}<token>`
  const valid = token === undefined ? undefined : validityOf(token)
  return {
    header,
    form,
    value,
    given: token === undefined ? [] : [token.signature],
    before: '',
    recipe: {
      prefix: '',
      algorithm: 'sha256',
      encoding: 'base64url',
      mismatch: mismatchOf(token, { request, claim }),
      passed: `The issuer signed the token for this audience, and its claim ${claim} is the secret of this endpoint.`,
      accepts: (identity) =>
        token !== undefined && isOf(identity, { token, claim }) && isSignedIn(token, request.fetched),
    },
    time: { header, timestamp: valid?.from, tolerance, until: valid?.until },
    failure: value === undefined ? missing(header) : problemOf({ token, valid, form, settings, request }),
  }
}

/** The names of authentication schemes are the same in any case (RFC 9110, section 11.1). */
function tokenAfter(prefix: string, value: string): Token | undefined {
  const start = value.slice(0, prefix.length)
  return start.toLowerCase() === prefix.toLowerCase() ? tokenIn(value.slice(prefix.length)) : undefined
}

type Validity = { readonly from: number; readonly until: number }

/** OpenID Connect requires both times. A token without an end would be valid forever. */
function validityOf({ claims }: Token): Validity | undefined {
  const [issued, until, from = issued] = ['iat', 'exp', 'nbf'].map((name) => claimIn(claims, name))
  if (![issued, until, from].every((time) => typeof time === 'number' && Number.isFinite(time))) return undefined
  return { from: Math.floor(Math.max(Number(issued), Number(from))), until: Math.floor(Number(until)) }
}

type ToJudge = {
  readonly token: Token | undefined
  readonly valid: Validity | undefined
  readonly form: string
  readonly settings: OidcSettings
  readonly request: Called
}

/** The fault of a token that no key could repair, so no key is fetched for it. */
function problemOf({ token, valid, form, settings, request }: ToJudge): SignatureFailure | undefined {
  const { header, issuer } = settings
  if (token === undefined || algorithmOf(token) === undefined) return malformed(header, `${form} by RS256 or ES256`)
  if (valid === undefined) return malformed(header, `${form} with its times (iat and exp)`, 'timestamp')
  if (claimIn(token.claims, 'iss') !== issuer) return wrongClaim('iss', 'issuer')
  return isFor(token, audiencesOf(settings, request)) ? undefined : wrongClaim('aud', 'audience')
}

/** A token with critical parameters must be refused by a receiver that does not know them, and this one knows none. */
function algorithmOf({ head }: Token): TokenAlgorithm | undefined {
  const algorithm = claimIn(head, 'alg')
  return isTokenAlgorithm(algorithm) && claimIn(head, 'crit') === undefined ? algorithm : undefined
}

function wrongClaim(claim: 'iss' | 'aud', setting: 'issuer' | 'audience'): SignatureFailure {
  return {
    reason: 'bad_signature',
    step: 'format',
    detail: `The claim ${claim} of the token is not the ${setting} of this endpoint. Set the same ${setting} at the sender and here.`,
  }
}

/** Without a configured audience, the token is for the URL that was called. */
function audiencesOf({ audience }: OidcSettings, { url }: Called): readonly string[] {
  return audience === null ? (url === undefined ? [] : urlSpellings(url)) : [audience]
}

function isFor({ claims }: Token, audiences: readonly string[]): boolean {
  const given = claimIn(claims, 'aud')
  const named: readonly unknown[] = Array.isArray(given) ? given : [given]
  return named.some((one) => typeof one === 'string' && audiences.includes(one))
}

/** An address that the issuer has not verified belongs to anyone. */
function isOf(
  identity: string,
  { token: { claims }, claim }: { readonly token: Token; readonly claim: string },
): boolean {
  const given = claimIn(claims, claim)
  if (claim === 'email' && claimIn(claims, 'email_verified') !== true) return false
  return typeof given === 'string' && isSame(given, identity)
}

function isSignedIn(token: Token, fetched: Signed['fetched']): boolean {
  const algorithm = algorithmOf(token)
  if (algorithm === undefined || fetched === undefined) return false
  const signature = bytesOf(token.signature, 'base64')
  const signed = { hash: 'sha256', content: bytesOf(token.signed, 'utf8'), signature } as const
  return keysFor(fetched.text, { algorithm, id: claimIn(token.head, 'kid') })
    .slice(0, CHECKED_MAX)
    .some((key) => isSigned(key, signed))
}

function mismatchOf(
  token: Token | undefined,
  { request: { fetched }, claim }: { readonly request: Request; readonly claim: string },
): string {
  if (fetched === undefined) return 'The keys of the issuer are not readable, so the token cannot be verified.'
  if (token !== undefined && !hasKey(token, fetched.text))
    return 'The issuer does not publish the key that the token names.'
  const verified = claim === 'email' ? ', and email_verified is true' : ''
  return `The token must have the signature of the issuer, and its claim ${claim} must be the secret of this endpoint${verified}.`
}

function hasKey(token: Token, text: string): boolean {
  const algorithm = algorithmOf(token)
  return algorithm !== undefined && keysFor(text, { algorithm, id: claimIn(token.head, 'kid') }).length > 0
}

/**
 * The next text that the check of a token needs: the discovery document of the issuer, its keys, and these once more when
 * they lack the key of the token. A token that no key could repair is not worth a request.
 */
export function neededForToken(settings: OidcSettings, request: Request): Needed | SignatureFailure | undefined {
  const { failure } = readOidcBearer(request, settings)
  if (failure !== undefined) return failure
  const { fetched } = request
  const first = settings.jwks_uri ?? discoveryUrl(settings.issuer)
  if (fetched === undefined) return { url: first }
  if (settings.jwks_uri === null && fetched.url === first) {
    const url = keysUrlIn(fetched.text, settings.issuer)
    return url === undefined || url === first ? noKeys() : { url }
  }
  const token = tokenAfter(settings.prefix, valueIn(request.headers, settings.header) ?? '')
  const isLast = fetched.isFresh === true || (token !== undefined && hasKey(token, fetched.text))
  return isLast ? undefined : { url: fetched.url, isFresh: true }
}

/** OpenID Connect Discovery 1.0, section 4. */
function discoveryUrl(issuer: string): string {
  return `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`
}

function noKeys(): SignatureFailure {
  return {
    reason: 'bad_signature',
    step: 'digest',
    detail:
      'The discovery document of the issuer does not have this issuer and the https URL of its keys. Set "jwks_uri".',
  }
}
