import { LIMITS } from '@postroad/contract'
import { type DecodedForm, FormCollector } from './form-fields.ts'

const MALFORMED: DecodedForm = {
  ok: false,
  error:
    'The body is not a well-formed form encoding; write each character other than letters, digits and -_.~ as %XX, in UTF-8.',
}

/**
 * Reads `a=1&b=2`: `+` is a space, a pair without `=` has an empty value, and a malformed `%` sequence refuses the whole form.
 */
export function decodeUrlencoded(text: string): DecodedForm {
  const form = new FormCollector()
  for (let start = 0; start < text.length;) {
    const next = text.indexOf('&', start)
    const end = next < 0 ? text.length : next
    const pair = text.slice(start, end)
    start = end + 1
    if (pair === '') continue
    const [key, value] = split(pair)
    if (key === undefined || value === undefined) return MALFORMED
    form.add(key, value)
    if (form.keys > LIMITS.formKeysMax) {
      return { ok: false, error: `The form has more than ${LIMITS.formKeysMax} keys; send JSON instead.` }
    }
  }
  return { ok: true, fields: form.fields }
}

function split(pair: string): readonly [string | undefined, string | undefined] {
  const equals = pair.indexOf('=')
  return equals < 0 ? [decode(pair), ''] : [decode(pair.slice(0, equals)), decode(pair.slice(equals + 1))]
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(withSpaces(text))
  } catch {
    return undefined
  }
}

const PLUS = 0x2b
const SPACE = 0x20

/** `+` is a space. In bytes, because V8 joins a text from each of its pieces. */
function withSpaces(text: string): string {
  if (!text.includes('+')) return text
  const bytes = Buffer.from(text)
  for (let at = 0; at < bytes.length; at += 1) if (bytes[at] === PLUS) bytes[at] = SPACE
  return bytes.toString()
}
