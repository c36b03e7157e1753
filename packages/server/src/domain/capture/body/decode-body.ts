import { isUtf8 } from 'node:buffer'
import { parseJson, stringifyJson } from '../../json/json-text.ts'
import { decodeMultipart } from './decode-multipart.ts'
import { decodeUrlencoded } from './decode-urlencoded.ts'
import type { DecodedForm } from './form-fields.ts'

/**
 * A body as a value for routing and as the JSON text to store. For JSON, the text is exactly the received text without
 * a byte order mark.
 */
export type Decoded =
  | {
      readonly ok: true
      readonly payload: unknown
      readonly text: string
      /** Whether the text is the body byte for byte. */
      readonly asSent: boolean
    }
  | Undecoded

export type Undecoded = {
  readonly ok: false
  readonly reason: 'empty_body' | 'invalid_body'
  readonly error: string
}

const NOT_BLANK = /[^ \t\r\n]/

/**
 * Reads a body by its content type: urlencoded and multipart forms become objects, everything else is JSON. Never throws; only
 * multipart returns a promise. The size of the body is limited before this.
 */
export function decodeBody(input: {
  readonly body: Buffer
  readonly contentType: string | undefined
  /** The maximum nesting depth of JSON. */
  readonly depthMax: number
}): Decoded | Promise<Decoded> {
  const { body, contentType, depthMax } = input
  if (body.length === 0) return empty()
  const mediaType = contentType === undefined ? '' : mediaTypeOf(contentType)
  if (contentType !== undefined && mediaType === 'multipart/form-data') {
    return decodeMultipart({ body, contentType }).then(fromForm)
  }
  if (!isUtf8(body))
    return invalid(
      isUtf16(body) ? 'The body is UTF-16. Send it as UTF-8.' : 'The body is not UTF-8. Encode it as UTF-8.',
    )
  const whole = body.toString('utf8')
  const text = withoutMark(whole)
  if (!NOT_BLANK.test(text)) return empty()
  if (mediaType === 'application/x-www-form-urlencoded') return fromForm(decodeUrlencoded(text))
  const parsed = parseJson(text, depthMax)
  return parsed.ok ? { ok: true, payload: parsed.value, text, asSent: text === whole } : invalid(parsed.error)
}

/** A byte order mark means UTF-8 and is not part of the content: JSON in the middle of an envelope cannot start with it. */
function withoutMark(text: string): string {
  return text.charCodeAt(0) === 0xfeff ? text.slice(1) : text
}

/** A byte order mark, in either byte order, identifies UTF-16. */
const isUtf16 = ([first, second]: Buffer): boolean =>
  (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff)

function fromForm(form: DecodedForm): Decoded {
  if (!form.ok) return invalid(form.error)
  return { ok: true, payload: form.fields, text: stringifyJson(form.fields), asSent: false }
}

function mediaTypeOf(contentType: string): string {
  const end = contentType.indexOf(';')
  return (end < 0 ? contentType : contentType.slice(0, end)).trim().toLowerCase()
}

function empty(): Undecoded {
  return {
    ok: false,
    reason: 'empty_body',
    error: 'The body is empty. Send JSON, a urlencoded form or multipart/form-data.',
  }
}

function invalid(error: string): Undecoded {
  return { ok: false, reason: 'invalid_body', error }
}
