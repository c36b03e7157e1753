import { createHmac, createSecretKey, timingSafeEqual } from 'node:crypto'
import type { DIGEST_ENCODINGS, HMAC_ALGORITHMS } from '@postroad/contract'

export type DigestOptions = {
  readonly key: string | Uint8Array
  /** The text before the body in the signed bytes. */
  readonly before?: string
  readonly body: Uint8Array | string
  /** The text after the body in the signed bytes. */
  readonly after?: string | undefined
  readonly algorithm?: HmacAlgorithm
  readonly encoding: DigestEncoding
}

export type HmacAlgorithm = (typeof HMAC_ALGORITHMS)[number]
export type DigestEncoding = (typeof DIGEST_ENCODINGS)[number]

/** The HMAC of `before`, the body and `after`, as text. A text key counts as its UTF-8 bytes. */
export function digest(options: DigestOptions): string {
  // Node takes three times as long with a key as bytes as with a key object.
  const key = typeof options.key === 'string' ? options.key : createSecretKey(options.key)
  const hmac = createHmac(options.algorithm ?? 'sha256', key)
  if (options.before !== undefined) hmac.update(options.before)
  hmac.update(options.body)
  if (options.after !== undefined) hmac.update(options.after)
  return hmac.digest(options.encoding)
}

/** Whether one of the given digests is the expected one. All are compared, each in constant time. */
export function anyEqual(given: readonly string[], expected: string): boolean {
  const wanted = Buffer.from(expected)
  let found = false
  for (const text of given) {
    if (text.length !== expected.length) continue
    const candidate = Buffer.from(text)
    if (candidate.length === wanted.length && timingSafeEqual(candidate, wanted)) found = true
  }
  return found
}

/** Unix seconds as a sender writes them: 1 to 15 digits and nothing else. Undefined when malformed. */
export function unixSeconds(text: string): number | undefined {
  return /^\d{1,15}$/.test(text) ? Number(text) : undefined
}
