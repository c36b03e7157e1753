import { anyEqual, digest } from './digest.ts'

/** What is looked at, in this order; a scheme without a timestamp has neither `timestamp` nor `tolerance`. */
export const SIGNATURE_STEPS = ['secret', 'header', 'format', 'timestamp', 'digest', 'tolerance'] as const
export type SignatureStep = (typeof SIGNATURE_STEPS)[number]

/**
 * The ways in which a signature is refused, by the reasons of the contract. `detail` never holds an expected digest.
 */
export type SignatureFailure = {
  readonly reason: 'missing_header' | 'bad_signature' | 'stale_timestamp'
  readonly step: SignatureStep
  readonly detail: string
}

/**
 * What every scheme is given: secrets with the current one first, header names in lower case, the bytes as they were
 * sent.
 */
export type Signed = {
  readonly secrets: readonly string[]
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly body: Uint8Array
  readonly nowSeconds: number
}

/** How a scheme makes the text that a sender of a secret would send. */
export type Recipe = {
  /** What stands before the digest in each of `given`. */
  readonly prefix: string
  readonly algorithm: 'sha256' | 'sha1'
  readonly encoding: 'hex' | 'base64'
  /** The bytes that a secret stands for; its own text when left out. */
  readonly keyOf?: (secret: string) => string | Uint8Array
}

/** What a request says of itself in its headers, as its scheme reads them; believed only after `failureOf`. */
export type Reading = {
  /** The header of the signature, and its form as a person writes it. */
  readonly header: string
  readonly form: string
  readonly value: string | undefined
  /** The signatures in it: one that equals the expected one is enough. */
  readonly given: readonly string[]
  /** What stands before the body in the signed bytes. */
  readonly before: string
  readonly recipe: Recipe
  /** Where the time stands, which time it is, and how far it may be from now; undefined: the scheme has no time. */
  readonly time:
    | { readonly header: string; readonly timestamp: number | undefined; readonly tolerance: number }
    | undefined
  /** What is missing or malformed already. */
  readonly failure: SignatureFailure | undefined
}

/** What refuses a reading; undefined when it passes. The signature is looked at first and its time after. */
export function failureOf(reading: Reading, request: Signed): SignatureFailure | undefined {
  if (reading.failure !== undefined) return reading.failure
  const matches = request.secrets.some((secret) => isMadeWith(secret, { reading, body: request.body }))
  return matches ? staleness(reading.time, request.nowSeconds) : mismatch(reading.header)
}

/** Whether a sender who holds this secret would have sent one of the signatures for this body. */
export function isMadeWith(secret: string, signed: { readonly reading: Reading; readonly body: Uint8Array }): boolean {
  const { recipe, given, before } = signed.reading
  const { prefix, algorithm, encoding, keyOf } = recipe
  const key = keyOf === undefined ? secret : keyOf(secret)
  const sent = encoding === 'hex' ? given.map((text) => inSmallLetters(text, prefix)) : given
  return anyEqual(sent, prefix + digest({ key, before, body: signed.body, algorithm, encoding }))
}

/** Hex means the same in either case, and some senders write capitals; what stands before it does not. */
function inSmallLetters(text: string, prefix: string): string {
  return text.slice(0, prefix.length) + text.slice(prefix.length).toLowerCase()
}

/** Of what several headers say, the first that has its form; else the first that is there, and what it lacks. */
export function wholeOf<Name>([first, ...others]: readonly [Name, ...Name[]], read: (name: Name) => Reading): Reading {
  let best = read(first)
  for (const name of others) {
    if (best.failure === undefined) return best
    const other = read(name)
    if (other.failure === undefined || best.value === undefined) best = other.value === undefined ? best : other
  }
  return best
}

/** `X is missing.` as a refusal. */
export function missing(header: string): SignatureFailure {
  return {
    reason: 'missing_header',
    step: 'header',
    detail: `The header ${header} is missing. Switch signing on at the sender, or choose the scheme that it uses.`,
  }
}

type DigestHeader = Pick<Reading, 'header' | 'form' | 'recipe'> & { readonly wellFormed: RegExp }

/** The reader of a header that holds one digest of the body, and no time. */
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

/** A header that does not have its form: told apart only in the step and the detail. */
export function malformed(header: string, form: string, step: 'format' | 'timestamp' = 'format'): SignatureFailure {
  return { reason: 'bad_signature', step, detail: `The header ${header} does not have the form ${form}.` }
}

/** No secret that is held gives a signature that was sent. */
function mismatch(header: string): SignatureFailure {
  return {
    reason: 'bad_signature',
    step: 'digest',
    detail: `The signature in ${header} does not match the body and the secret.`,
  }
}

/** The refusal of a right signature whose time is too far from now, in either direction. */
function staleness(time: Reading['time'], nowSeconds: number): SignatureFailure | undefined {
  if (time?.timestamp === undefined) return undefined
  const age = nowSeconds - time.timestamp
  if (Math.abs(age) <= time.tolerance) return undefined
  return {
    reason: 'stale_timestamp',
    step: 'tolerance',
    detail: `The signature is right but ${ageText(age)}, and ${time.tolerance} s is allowed. Check the sender's clock.`,
  }
}

/** `12 s old` or `12 s ahead`. */
export function ageText(age: number): string {
  return age >= 0 ? `${age} s old` : `${-age} s ahead`
}
