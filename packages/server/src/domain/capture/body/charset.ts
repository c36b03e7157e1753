import { isUtf8 } from 'node:buffer'
import { TextDecoder } from 'node:util'

/** The charsets in which a text may be, by what its sender says about it. */

/** Labels that senders use for any text: bytes beyond ASCII are then in a charset that nobody named. */
const SAYS_NOTHING = new Set(['ascii', 'us-ascii', 'ansi_x3.4-1968', 'iso-ir-6', 'iso646-us', 'us', 'ibm367', 'cp367'])

const decoders = new Map<string, TextDecoder>()

/** Strict, so that a text in another charset is noticed; undefined: nothing, or a charset that is not known, is named. */
export function decoderOf(label: unknown): TextDecoder | undefined {
  if (typeof label !== 'string' || label.length > LABEL_CHARS_MAX) return undefined
  const name = label.trim().toLowerCase()
  if (SAYS_NOTHING.has(name)) return undefined
  const known = decoders.get(name)
  if (known !== undefined) return known
  try {
    const made = new TextDecoder(name, { fatal: true, ignoreBOM: true })
    decoders.set(name, made)
    return made
  } catch {
    return undefined
  }
}

const LABEL_CHARS_MAX = 40

/** Every byte is a character of it. */
const WINDOWS_1252 = new TextDecoder('windows-1252', { ignoreBOM: true })

/** The text of bytes in the first of these charsets that they fit, then in UTF-8, then in windows-1252. */
export function textOf(bytes: Buffer, declared: readonly (TextDecoder | undefined)[] = []): string {
  for (const decoder of declared) {
    const text = decoder === undefined ? undefined : textIn(bytes, decoder)
    if (text !== undefined) return text
  }
  return isUtf8(bytes) ? bytes.toString('utf8') : WINDOWS_1252.decode(bytes)
}

function textIn(bytes: Uint8Array, decoder: TextDecoder): string | undefined {
  try {
    return decoder.decode(bytes)
  } catch {
    return undefined
  }
}

const PARAMETER = /;[ \t]*charset[ \t]*=[ \t]*"?([\w.:-]{1,40})/i

/** The charset that a Content-Type names. */
export const charsetOf = (contentType: string): string | undefined => PARAMETER.exec(contentType)?.[1]

export const isUtf8Decoder = (decoder: TextDecoder | undefined): boolean =>
  decoder === undefined || decoder.encoding === 'utf-8'
