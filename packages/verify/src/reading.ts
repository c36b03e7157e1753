import type { DigestEncoding, HmacAlgorithm } from './crypto.ts'
import { anyEqual, digest } from './digest.ts'

/** The steps of the check, in this order. A scheme without a timestamp has neither `timestamp` nor `tolerance`. */
export const SIGNATURE_STEPS = ['secret', 'header', 'format', 'timestamp', 'digest', 'tolerance'] as const
export type SignatureStep = (typeof SIGNATURE_STEPS)[number]

/** A refusal of a signature, with the contract's reason. `detail` never contains an expected digest. */
export type SignatureFailure = {
  readonly reason: 'missing_header' | 'bad_signature' | 'stale_timestamp'
  readonly step: SignatureStep
  readonly detail: string
}

/** The input of every scheme: secrets with the current one first, header names in lower case, the bytes as sent. */
export type Signed = {
  readonly secrets: readonly string[]
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly body: Uint8Array
  readonly nowSeconds: number
  /** The URL that was called, for a scheme that signs it. */
  readonly url?: string | undefined
  /** The last text that `neededText` asked for, for a scheme that needs the certificate or the keys of the provider. */
  readonly fetched?: Fetched | undefined
}

/** `isFresh`: the text must not come from a cache, because a cached one lacks a key. */
export type Needed = { readonly url: string; readonly isFresh?: true }
export type Fetched = Needed & { readonly text: string }

/** How a scheme builds the text that a sender with the secret would send. */
export type Recipe = {
  /** The text before the digest in each of `given`. */
  readonly prefix: string
  readonly algorithm: HmacAlgorithm
  readonly encoding: DigestEncoding
  /** The bytes that a secret encodes. Defaults to the secret's own text. */
  readonly keyOf?: (secret: string) => string | Uint8Array
  /** The signed form of the body; the body itself when left out. */
  readonly contentOf?: (body: Uint8Array) => Uint8Array | string
  /** Replaces the comparison of digests, for tokens, public keys and certificates. */
  readonly accepts?: (secret: string, signed: ToAccept) => boolean
  /** Decides for a secret that is a public key of a scheme whose secrets can be either; undefined: it is none. */
  readonly isSignedBy?: (secret: string, signed: ToAccept) => boolean | undefined
  /** The sentence of a refusal, when the usual one would not be true. */
  readonly mismatch?: string
  /** The sentence of a check that passed, likewise. */
  readonly passed?: string
  /** The name of the compared thing in a sentence; "signature" when left out. */
  readonly thing?: 'token' | 'user name and password'
}

type ToAccept = { readonly reading: Reading; readonly body: Uint8Array; readonly nowSeconds: number }

/** A header by its name; `isInBody`: a member of the body, by its dot path. */
export type Place = { readonly header: string; readonly isInBody?: boolean | undefined }

/** The claims of a request, as its scheme reads them. They are trusted only after `judge`. */
export type Reading = Place & {
  /** The form of the signature, for people. */
  readonly form: string
  readonly value: string | undefined
  /** The signatures in it. One that equals the expected one is enough. */
  readonly given: readonly string[]
  /** The text before the body in the signed bytes. */
  readonly before: string
  /** The text after the body in the signed bytes. */
  readonly after?: string
  readonly recipe: Recipe
  /** The header with the time, the time itself, and how far it may be from now; undefined: the scheme has no time. */
  readonly time:
    | (Place & {
        readonly timestamp: number | undefined
        readonly tolerance: number
        /** The end of its validity, which starts at the timestamp; undefined: it is valid around the timestamp. */
        readonly until?: number | undefined
      })
    | undefined
  /** The part that is already missing or malformed. */
  readonly failure: SignatureFailure | undefined
  /** The request has a second header, or set of headers, with the right form. One right signature is enough. */
  readonly otherwise?: Reading
}

export type Judged = { readonly reading: Reading; readonly failure: SignatureFailure | undefined }

/**
 * The reason why a request is refused, undefined when it passes, and the reading that decided it. The signature is checked before
 * its time. Of two readings, the one that passes decides, then the one with the right signature, then the first.
 */
export function judge(reading: Reading, request: Signed): Judged {
  const first = { reading, failure: failureOf(reading, request) }
  if (first.failure === undefined || reading.otherwise === undefined) return first
  const second = judge(reading.otherwise, request)
  const isCloser = second.failure === undefined || (second.failure.step === 'tolerance' && !isRight(first.failure))
  return isCloser ? second : first
}

/** Whether the signature itself was correct: only its time is checked later. */
export const isRight = (failure: SignatureFailure | undefined): boolean =>
  failure === undefined || failure.step === 'tolerance'

function failureOf(reading: Reading, request: Signed): SignatureFailure | undefined {
  if (reading.failure !== undefined) return reading.failure
  const matches = request.secrets.some((secret) => isMadeWith(secret, { ...request, reading }))
  return matches ? staleness(reading.time, request.nowSeconds) : mismatch(reading)
}

/** Whether a sender with this secret would have sent one of the signatures for this body. */
export function isMadeWith(secret: string, signed: ToAccept): boolean {
  const { recipe, given, before, after } = signed.reading
  const { prefix, algorithm, encoding, keyOf, contentOf, accepts } = recipe
  if (accepts !== undefined) return accepts(secret, signed)
  const isSigned = recipe.isSignedBy?.(secret, signed)
  if (isSigned !== undefined) return isSigned
  const key = keyOf === undefined ? secret : keyOf(secret)
  const body = contentOf === undefined ? signed.body : contentOf(signed.body)
  const sent = encoding === 'hex' ? given.map((text) => inSmallLetters(text, prefix)) : given
  return anyEqual(sent, prefix + digest({ key, before, body, after, algorithm, encoding }))
}

/** Hex means the same in either case, and some senders write capitals. The text before it is case-sensitive. */
function inSmallLetters(text: string, prefix: string): string {
  return text.slice(0, prefix.length) + text.slice(prefix.length).toLowerCase()
}

/** The headers with the right form, one after another; without any, the first existing one, with its failure. */
export function wholeOf<Name>(names: readonly [Name, ...Name[]], read: (name: Name) => Reading): Reading {
  const [first, ...others] = names
  const reading = read(first)
  if (others.length === 0) return reading
  const readings = [reading, ...others.map(read)]
  const whole = readings.filter(({ failure }) => failure === undefined)
  const best = whole.reduceRight<Reading | undefined>(
    (otherwise, each) => (otherwise === undefined ? each : { ...each, otherwise }),
    undefined,
  )
  return best ?? readings.find(({ value }) => value !== undefined) ?? reading
}

/** `header X-Signature`, or `member signature.token of the body`. */
export function placeText(place: Place | string): string {
  if (typeof place === 'string') return `header ${place}`
  return place.isInBody === true ? `member ${place.header} of the body` : `header ${place.header}`
}

/** The same after "in", where a header is only its name. */
export const placeIn = (place: Place): string => (place.isInBody === true ? `the ${placeText(place)}` : place.header)

/** `X is missing.` as a refusal. */
export function missing(place: Place | string): SignatureFailure {
  return {
    reason: 'missing_header',
    step: 'header',
    detail: `The ${placeText(place)} is missing. Turn on signing at the sender, or choose the scheme that it uses.`,
  }
}

type DigestHeader = Pick<Reading, 'header' | 'form' | 'recipe'> & { readonly wellFormed: RegExp }

/** The reader of a header with one digest of the body, and no time. */
export function digestIn({ header, form, recipe, wellFormed }: DigestHeader): (headers: Signed['headers']) => Reading {
  const name = header.toLowerCase()
  return (headers) => {
    const value = headers[name]
    return {
      header,
      form,
      value,
      given: value === undefined ? [] : [value],
      before: '',
      recipe,
      time: undefined,
      failure: value === undefined ? missing(header) : wellFormed.test(value) ? undefined : malformed(header, form),
    }
  }
}

/** The refusal of a header that does not have its form. Only the step and the detail distinguish these refusals. */
export function malformed(
  place: Place | string,
  form: string,
  step: 'format' | 'timestamp' = 'format',
): SignatureFailure {
  return { reason: 'bad_signature', step, detail: `The ${placeText(place)} does not have the form ${form}.` }
}

/** The refusal when no stored secret produces a signature that was sent. */
function mismatch(reading: Reading): SignatureFailure {
  const { thing, mismatch: own } = reading.recipe
  const place = placeIn(reading)
  return {
    reason: 'bad_signature',
    step: 'digest',
    detail:
      own ??
      (thing === undefined
        ? `The signature in ${place} does not match the body and the secret.`
        : `The ${thing} in ${place} is not the secret of this endpoint.`),
  }
}

/** The refusal of a right signature whose time is too far from now, in either direction. */
function staleness(time: Reading['time'], nowSeconds: number): SignatureFailure | undefined {
  if (time?.timestamp === undefined) return undefined
  const age = nowSeconds - time.timestamp
  if (time.until !== undefined) return expiry({ until: time.until, tolerance: time.tolerance, age, nowSeconds })
  return Math.abs(age) <= time.tolerance
    ? undefined
    : stale(`The signature is right but ${ageText(age)}, and ${time.tolerance} s is allowed. Check the sender's clock.`)
}

type Span = { readonly until: number; readonly tolerance: number; readonly age: number; readonly nowSeconds: number }

function expiry({ until, tolerance, age, nowSeconds }: Span): SignatureFailure | undefined {
  const late = nowSeconds - until
  if (late > tolerance) return stale(`The token is right but expired ${late} s ago, and ${tolerance} s is allowed.`)
  return -age > tolerance
    ? stale(`The token is right but valid only in ${-age} s, and ${tolerance} s is allowed. Check the sender's clock.`)
    : undefined
}

function stale(detail: string): SignatureFailure {
  return { reason: 'stale_timestamp', step: 'tolerance', detail }
}

/** `12 s old` or `12 s ahead`. */
export function ageText(age: number): string {
  return age >= 0 ? `${age} s old` : `${-age} s ahead`
}
