import type { TextDecoder } from 'node:util'
import { decoderOf, isUtf8Decoder } from './charset.ts'

/** A field as its name and its bytes. */
export type RawField = { readonly name: string; readonly bytes: Buffer }

/** The charsets in which a form says that its fields are, in the order in which they are tried. */
export type FormCharsets = {
  /** Of the names. */
  readonly all: readonly (TextDecoder | undefined)[]
  readonly ofField: (name: string) => readonly (TextDecoder | undefined)[]
  /** Nothing says another charset than UTF-8. */
  readonly isUtf8: boolean
}

const FIELDS = new Set(['_charset_', 'charset', 'charsets'])

/**
 * The content type of the form first, then the field `_charset_` of browsers, then `charset` (PayPal), then `charsets`: a JSON
 * object with the charset of each field (SendGrid).
 */
export function formCharsets(contentType: string | undefined, fields: Iterable<RawField>): FormCharsets {
  const declared = new Map<string, string>()
  for (const { name, bytes } of fields) {
    if (FIELDS.has(name) && !declared.has(name)) declared.set(name, bytes.toString('latin1'))
  }
  return charsetsBy(contentType, (name) => declared.get(name))
}

/** The same, of a form whose fields can be read already. */
export function charsetsBy(contentType: string | undefined, fieldOf: (name: string) => unknown): FormCharsets {
  const all = [contentType, fieldOf('_charset_'), fieldOf('charset')].map(formDecoder)
  const each = decodersOfEach(fieldOf('charsets'))
  const isUtf8 = [...all, ...each.values()].every(isUtf8Decoder)
  return { all, ofField: each.size === 0 ? () => all : (name) => [...all, each.get(name)], isUtf8 }
}

/** A form in UTF-16 has no ASCII bytes, so no form is: browsers then send UTF-8. */
function formDecoder(label: unknown): TextDecoder | undefined {
  const decoder = decoderOf(label)
  return decoder?.encoding.startsWith('utf-16') === true ? undefined : decoder
}

const NONE: ReadonlyMap<string, TextDecoder | undefined> = new Map()

function decodersOfEach(text: unknown): typeof NONE {
  if (typeof text !== 'string' || !text.trimStart().startsWith('{')) return NONE
  try {
    const parsed: unknown = JSON.parse(text)
    if (typeof parsed !== 'object' || parsed === null) return NONE
    return new Map(Object.entries(parsed).map(([name, label]) => [name, formDecoder(label)]))
  } catch {
    return NONE
  }
}
