import { isUtf8 } from 'node:buffer'
import type { BodyAs } from '@postroad/contract'
import { parseJson, stringifyJson } from '../../json/json-text.ts'
import { charsetOf, decoderOf, textOf } from './charset.ts'
import { decodeMultipart } from './decode-multipart.ts'
import { decodeUrlencoded } from './decode-urlencoded.ts'
import type { DecodedForm } from './form-fields.ts'
import { readXml } from './read-xml.ts'

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

/** How an endpoint reads bodies; undefined: as the contract says. */
export type BodyReading = {
  readonly as: BodyAs
  /** Each line is an item, and the payload is the list of them. */
  readonly byLine: boolean
}

type Sent = {
  readonly body: Buffer
  readonly contentType: string | undefined
  /** The maximum nesting depth of JSON and XML. */
  readonly depthMax: number
  readonly reading?: BodyReading | undefined
}

const FORM = 'application/x-www-form-urlencoded'
const MULTIPART = 'multipart/form-data'

const NOT_BLANK = /[^ \t\r\n]/

/**
 * Reads a body by its content type: urlencoded and multipart forms become objects, everything else is JSON, unless the endpoint
 * reads text or XML. Never throws; only multipart returns a promise. The size of the body is limited before this.
 */
export function decodeBody(input: Sent): Decoded | Promise<Decoded> {
  const { body, reading } = input
  if (body.length === 0) return empty()
  if (reading !== undefined) return decodeAs(reading, input)
  return decodeByType(input)
}

function decodeByType(input: Sent): Decoded | Promise<Decoded> {
  const { body, contentType, depthMax } = input
  const mediaType = contentType === undefined ? '' : mediaTypeOf(contentType)
  if (contentType !== undefined && mediaType === MULTIPART) {
    return decodeMultipart({ body, contentType }).then(fromForm)
  }
  if (mediaType === FORM) return decodeForm(input)
  return isUtf8(body) ? decodeJson(body.toString('utf8'), depthMax) : decodeForeign(input)
}

/** JSON is UTF-8, whatever its content type says. Bytes that are not UTF-8 are UTF-16 with its mark, or in the charset that it names. */
function decodeForeign({ body, contentType = '', depthMax }: Sent): Decoded {
  const decoder = decoderOf(utf16Of(body) ?? charsetOf(contentType))
  if (decoder === undefined || decoder.encoding === 'utf-8')
    return invalid('The body is not UTF-8. Encode it as UTF-8.')
  const decoded = decodeJson(textOf(body, [decoder]), depthMax)
  return decoded.ok ? { ...decoded, asSent: false } : decoded
}

/** curl sends JSON as a form when nobody names another content type. No form is an object or a list of JSON as a whole. */
function decodeForm({ body, contentType = '', depthMax }: Sent): Decoded {
  const first = firstByte(body)
  if (first === undefined) return empty()
  const json = isOpening(first) && isUtf8(body) ? decodeJson(body.toString('utf8'), depthMax) : undefined
  if (json?.ok === true) return json
  const form = hasMark(body) ? body.subarray(MARK.length) : body
  return fromForm(decodeUrlencoded(form, charsetOf(contentType)))
}

function decodeJson(whole: string, depthMax: number): Decoded {
  const text = withoutMark(whole)
  if (!NOT_BLANK.test(text)) return empty()
  const parsed = parseJson(text, depthMax)
  return parsed.ok ? { ok: true, payload: parsed.value, text, asSent: text === whole } : invalid(parsed.error)
}

/** The first byte after a byte order mark and spaces. */
function firstByte(body: Buffer): number | undefined {
  const start = hasMark(body) ? MARK.length : 0
  for (let at = start; at < body.length; at += 1) {
    const byte = body[at]
    if (byte !== 0x20 && byte !== 0x09 && byte !== 0x0a && byte !== 0x0d) return byte
  }
  return undefined
}

const isOpening = (byte: number | undefined): boolean => byte === 0x7b || byte === 0x5b

const MARK = Buffer.from('\uFEFF')
const hasMark = (body: Buffer): boolean => body.subarray(0, MARK.length).equals(MARK)

/** A byte order mark means UTF-8 and is not part of the content: JSON in the middle of an envelope cannot start with it. */
function withoutMark(text: string): string {
  return text.charCodeAt(0) === 0xfeff ? text.slice(1) : text
}

/** The byte order of UTF-16 by its mark. */
function utf16Of([first, second]: Buffer): string | undefined {
  if (first === 0xff && second === 0xfe) return 'utf-16le'
  return first === 0xfe && second === 0xff ? 'utf-16be' : undefined
}

function decodeAs({ as, byLine }: BodyReading, input: Sent): Decoded | Promise<Decoded> {
  if (as === 'contract') return decodeLines(input)
  const { body, contentType = '', depthMax } = input
  const text = withoutMark(wholeText(body, { contentType, isXml: as === 'xml' }))
  if (!NOT_BLANK.test(text)) return empty()
  if (as === 'text') return fromValue(byLine ? linesIn(text) : text)
  const read = readXml(text, depthMax)
  return read.ok ? fromValue(read.value) : invalid(read.error)
}

/**
 * The lines of a body as a list. A line that is not JSON is its text, so one bad line costs no other. One JSON value over several
 * lines, or a form, is a list of one.
 */
async function decodeLines(input: Sent): Promise<Decoded> {
  const { contentType = '', depthMax } = input
  const isForm = mediaTypeOf(contentType) === FORM && !isOpening(firstByte(input.body))
  const isLines = !isForm && mediaTypeOf(contentType) !== MULTIPART
  const whole = await decodeByType(isLines ? { ...input, contentType: undefined } : input)
  if (whole.ok) return fromValue([whole.payload])
  if (whole.reason === 'empty_body' || !isLines) return whole
  const text = withoutMark(wholeText(input.body, { contentType, isXml: false }))
  return fromValue(
    linesIn(text).map((line) => {
      const parsed = parseJson(line, depthMax)
      return parsed.ok ? parsed.value : line
    }),
  )
}

const linesIn = (text: string): readonly string[] => text.split(/\r?\n/).filter((line) => NOT_BLANK.test(line))

const fromValue = (payload: unknown): Decoded => ({ ok: true, payload, text: stringifyJson(payload), asSent: false })

const XML_ENCODING = /^<\?xml[^>]{1,100}?[ \t\r\n]encoding[ \t\r\n]*=[ \t\r\n]*["']([\w.:-]{1,40})["']/

/** A byte order mark names the charset, otherwise the content type, otherwise the declaration of XML. */
function wholeText(
  body: Buffer,
  { contentType, isXml }: { readonly contentType: string; readonly isXml: boolean },
): string {
  const [first, second] = body
  if (first === 0xff && second === 0xfe) return textOf(body, [decoderOf('utf-16le')])
  if (first === 0xfe && second === 0xff) return textOf(body, [decoderOf('utf-16be')])
  const declared = isXml ? XML_ENCODING.exec(body.toString('latin1', 0, 200))?.[1] : undefined
  return textOf(body, [
    ...(hasMark(body) ? [decoderOf('utf-8')] : []),
    decoderOf(charsetOf(contentType)),
    decoderOf(declared),
  ])
}

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
