import { createHmac, timingSafeEqual } from 'node:crypto'
import { LIMITS } from '@postroad/contract'

/**
 * The ways in which a signature is refused, by the reasons of the contract. `detail` never holds an expected digest.
 */
export type SignatureFailure = {
  readonly reason: 'missing_header' | 'bad_signature' | 'stale_timestamp'
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

export type DigestOptions = {
  readonly key: string | Uint8Array
  /** What stands before the body in the signed bytes. */
  readonly before?: string
  readonly body: Uint8Array | string
  readonly algorithm?: 'sha256' | 'sha1'
  readonly encoding: 'hex' | 'base64'
}

/** The HMAC of `before` and the body, as text. A key that is text counts as its UTF-8 bytes. */
export function digest(options: DigestOptions): string {
  const hmac = createHmac(options.algorithm ?? 'sha256', options.key)
  if (options.before !== undefined) hmac.update(options.before)
  return hmac.update(options.body).digest(options.encoding)
}

/** Whether one of the given digests is the expected one; in constant time, and at most 16 are looked at. */
export function anyEqual(given: readonly string[], expected: string): boolean {
  const wanted = Buffer.from(expected)
  let found = false
  for (let at = 0; at < given.length && at < LIMITS.signaturesPerHeaderMax; at += 1) {
    const candidate = Buffer.from(given[at] ?? '')
    if (candidate.length === wanted.length && timingSafeEqual(candidate, wanted)) found = true
  }
  return found
}

/** Unix seconds as a sender writes them: 1 to 15 digits and nothing else. Undefined when malformed. */
export function unixSeconds(text: string): number | undefined {
  return /^\d{1,15}$/.test(text) ? Number(text) : undefined
}

/**
 * The refusal of a right signature whose time is too far from now, in either direction; looked at after the signature.
 */
export function staleness(time: {
  readonly timestamp: number
  readonly nowSeconds: number
  readonly tolerance: number
}): SignatureFailure | undefined {
  const age = time.nowSeconds - time.timestamp
  if (Math.abs(age) <= time.tolerance) return undefined
  const where = age > 0 ? `${age} s old` : `${-age} s ahead`
  return {
    reason: 'stale_timestamp',
    detail: `The signature is right but ${where}, and ${time.tolerance} s is allowed. Check the sender's clock.`,
  }
}

/** `X is missing.` as a refusal. */
export function missing(header: string): SignatureFailure {
  return { reason: 'missing_header', detail: `The header ${header} is missing.` }
}

/** A header that does not have its form: told apart only in the detail. */
export function malformed(header: string, form: string): SignatureFailure {
  return { reason: 'bad_signature', detail: `The header ${header} does not have the form ${form}.` }
}

/** No secret that is held gives a signature that was sent. */
export function mismatch(header: string): SignatureFailure {
  return { reason: 'bad_signature', detail: `The signature in ${header} does not match the body and the secret.` }
}
