import { LIMITS } from '@postroad/contract'
import { Busboy } from '@fastify/busboy'
import { type DecodedForm, FormCollector } from './form-fields.ts'

const BOUNDARY = /;\s*boundary=(?:"([\x20-\x7e]{1,200}?)"|([!#-+\x2d-:<-~]{1,200}))/i

/** Where a part is in the body: its headers, with the rest of their line, and its content. */
type Place = { readonly head: Buffer; readonly bytes: Buffer }

/** One part as its headers announce it, in the order of the body. */
type Part = Place & {
  readonly name: string | undefined
  readonly filename: string | undefined
  readonly contentType: string
}

/**
 * Reads multipart/form-data: a text field is a string, a file is `{filename, content_type, size, base64}`, and a repeated name
 * is a list. Nothing is dropped silently: a part that cannot be read refuses the body. Never rejects.
 */
export async function decodeMultipart(input: {
  readonly body: Buffer
  readonly contentType: string
}): Promise<DecodedForm> {
  const [, quoted, bare] = BOUNDARY.exec(input.contentType) ?? []
  const boundary = quoted ?? bare
  if (boundary === undefined) return refused('the Content-Type has no boundary.')

  const places = placesIn(input.body, boundary)
  if (typeof places === 'string') return refused(places)
  if (places.length === 0) return refused('it has no parts.')
  const parts = await readParts(places, boundary)
  return typeof parts === 'string' ? refused(parts) : collect(parts)
}

const HEADERS_END = Buffer.from('\r\n\r\n')
const MALFORMED = 'a part is not form data, or its headers are malformed.'

/**
 * The parts of a body, or a description of the error. The parser of the headers also finds parts, but needs up to a second where a long
 * boundary nearly occurs again and again; Node finds it in one pass.
 */
function placesIn(body: Buffer, boundary: string): readonly Place[] | string {
  const delimiter = Buffer.from(`\r\n--${boundary}`, 'latin1')
  const first = delimiter.subarray(2)
  const places: Place[] = []
  let malformed = false
  let at = body.subarray(0, first.length).equals(first) ? -2 : body.indexOf(delimiter)
  while (at !== -1) {
    const after = at + delimiter.length
    if (body.toString('latin1', after, after + 2) === '--') return malformed ? MALFORMED : places
    if (places.length >= LIMITS.multipartPartsMax) return `it has more than ${LIMITS.multipartPartsMax} parts.`
    at = body.indexOf(delimiter, after)
    const part = body.subarray(after, at === -1 ? body.length : at)
    const end = part.indexOf(HEADERS_END)
    malformed ||= end < 0
    const content = end + HEADERS_END.length
    places.push({ head: part.subarray(0, end), bytes: end < 0 ? part : part.subarray(content) })
  }
  return 'it ends too early, or a part is malformed.'
}

/** Reads the headers of the parts from a body without their contents, or returns a description of the error. */
function readParts(places: readonly Place[], boundary: string): Promise<readonly Part[] | string> {
  const first = Buffer.from(`--${boundary}`, 'latin1')
  const heads = places.flatMap(({ head }) => [first, head, HEADERS_END, LINE_END])
  return new Promise((resolve) => {
    const parts: Part[] = []
    const parser = new Busboy({
      headers: { 'content-type': `multipart/form-data; boundary="${boundary}"` },
      // A text field would be decoded in the parser's own way, which replaces unreadable bytes.
      isPartAFile: () => true,
      preservePath: true,
    })
    parser.on('file', (...[name, file, filename, , contentType]) => {
      const place = places[parts.length]
      if (place !== undefined) parts.push({ ...place, name, filename, contentType })
      file.resume()
    })
    parser.on('error', () => resolve(MALFORMED))
    // The parser drops some parts silently.
    parser.on('finish', () => resolve(parts.length === places.length ? parts : MALFORMED))
    parser.end(Buffer.concat([...heads, first, Buffer.from('--\r\n')]))
  })
}

const LINE_END = Buffer.from('\r\n')

/** A part is a file if it has a file name or declares itself as bytes. */
const isFile = ({ filename, contentType }: Part): boolean =>
  filename !== undefined || contentType === 'application/octet-stream'

function fileValue({ bytes, filename, contentType }: Part): unknown {
  return { filename: filename ?? null, content_type: contentType, size: bytes.length, base64: bytes.toString('base64') }
}

function collect(parts: readonly Part[]): DecodedForm {
  const form = new FormCollector()
  for (const part of parts) {
    const { name } = part
    if (name === undefined) return refused('a part has no name.')
    if (name.includes(UNREADABLE) || part.filename?.includes(UNREADABLE) === true)
      return refused('the name of a part is not UTF-8.')
    const charset = CHARSET.exec(part.head.toString('latin1'))?.[1]
    const value = isFile(part) ? fileValue(part) : textIn(part.bytes, charset ?? 'utf-8')
    if (value === undefined)
      return refused(
        charset === undefined
          ? 'a field is not UTF-8; send it as a file.'
          : `a field cannot be read as ${charset}, the charset of its part; send it in UTF-8.`,
      )
    form.add(name, value)
  }
  return { ok: true, fields: form.fields }
}

/** The replacement character for bytes that are not text. */
const UNREADABLE = '\uFFFD'

/** undefined: the bytes are not in that charset, or the charset is unknown. */
function textIn(bytes: Buffer, charset: string): string | undefined {
  try {
    return new TextDecoder(charset, { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return undefined
  }
}

/** The parser does not report the charset of a part. */
const CHARSET = /\r\ncontent-type:[^\r\n]*;[ \t]*charset[ \t]*=[ \t]*"?([\w.:-]{1,40})/i

function refused(why: string): DecodedForm {
  return { ok: false, error: `The multipart body could not be read: ${why}` }
}
