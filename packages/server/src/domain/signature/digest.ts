import { createHmac, createSecretKey, timingSafeEqual } from 'node:crypto'

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
  // Bytes go in as a key object: given as they are, node takes three times as long to see that they are none.
  const key = typeof options.key === 'string' ? options.key : createSecretKey(options.key)
  const hmac = createHmac(options.algorithm ?? 'sha256', key)
  if (options.before !== undefined) hmac.update(options.before)
  return hmac.update(options.body).digest(options.encoding)
}

/** Whether one of the given digests is the expected one; all are looked at, each in constant time. */
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
