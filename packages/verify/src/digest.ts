import { hmac, isEqual } from '#crypto'
import type { DigestEncoding, HmacAlgorithm } from './crypto.ts'

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

/** The HMAC of `before`, the body and `after`, as text. A text key counts as its UTF-8 bytes. */
export function digest({ key, before = '', body, after = '', algorithm = 'sha256', encoding }: DigestOptions): string {
  const pieces = [before, body, after].filter((piece) => piece !== '')
  return hmac({ algorithm, key, pieces, encoding })
}

/** Whether one of the given digests is the expected one. All are compared, each in constant time. */
export function anyEqual(given: readonly string[], expected: string): boolean {
  let found = false
  for (const text of given) if (isEqual(text, expected)) found = true
  return found
}

/** Unix seconds as a sender writes them: 1 to 15 digits and nothing else. Undefined when malformed. */
export function unixSeconds(text: string): number | undefined {
  return /^\d{1,15}$/.test(text) ? Number(text) : undefined
}
