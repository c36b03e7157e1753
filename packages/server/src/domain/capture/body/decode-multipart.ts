import { LIMITS } from '@postroad/contract/plain'
import { Busboy } from '@fastify/busboy'
import { charsetOf, decoderOf, textOf } from './charset.ts'
import { formCharsets, type RawField } from './form-charsets.ts'
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
 * is a list. Nothing is dropped silently: a part without the form of one refuses the body, but no byte of a name or a text
 * does. Never rejects.
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
  return typeof parts === 'string' ? refused(parts) : collect(parts, charsetOf(input.contentType))
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
  // The parser reads UTF-8 only, and names of files come in the charset of the machine of their sender.
  const heads = places.flatMap(({ head }) => [first, Buffer.from(textOf(head)), HEADERS_END, LINE_END])
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

function collect(parts: readonly Part[], charset: string | undefined): DecodedForm {
  const form = new FormCollector()
  const charsets = formCharsets(charset, textFields(parts))
  for (const part of parts) {
    const { name } = part
    if (name === undefined) return refused('a part has no name.')
    const own = PART_CHARSET.exec(part.head.toString('latin1'))?.[1]
    form.add(name, isFile(part) ? fileValue(part) : textOf(part.bytes, [decoderOf(own), ...charsets.ofField(name)]))
  }
  return { ok: true, fields: form.fields }
}

function* textFields(parts: readonly Part[]): Iterable<RawField> {
  for (const part of parts) if (part.name !== undefined && !isFile(part)) yield { name: part.name, bytes: part.bytes }
}

/** The parser does not report the charset of a part. */
const PART_CHARSET = /\r\ncontent-type:[^\r\n]*;[ \t]*charset[ \t]*=[ \t]*"?([\w.:-]{1,40})/i

function refused(why: string): DecodedForm {
  return { ok: false, error: `The multipart body could not be read: ${why}` }
}
