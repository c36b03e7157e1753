import { LIMITS } from '@postroad/contract'
import { Busboy } from '@fastify/busboy'
import { type DecodedForm, FormCollector } from './form-fields.ts'

const BOUNDARY = /;\s*boundary=(?:"([\x20-\x7e]{1,200}?)"|([!#-+\x2d-:<-~]{1,200}))/i

/** One part as its headers announce it, in the order of the body. */
type Part = {
  readonly name: string | undefined
  readonly filename: string | undefined
  readonly contentType: string
  bytes: Buffer
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

  const announced = announcedParts(input.body, boundary)
  if (announced.length > LIMITS.multipartPartsMax) return refused(`it has more than ${LIMITS.multipartPartsMax} parts.`)

  const parts = await readParts(input.body, boundary)
  if (typeof parts === 'string') return refused(parts)
  if (parts.length !== announced.length) return refused('a part is not form data, or its headers are malformed.')
  if (parts.length === 0) return refused('it has no parts.')
  return collect(parts, announced)
}

/** Returns the parts, or a description of the error. */
function readParts(body: Buffer, boundary: string): Promise<readonly Part[] | string> {
  return new Promise((resolve) => {
    const parts: Part[] = []
    const parser = new Busboy({
      headers: { 'content-type': `multipart/form-data; boundary="${boundary}"` },
      // Text also comes as bytes, because the parser would decode it in its own way and replace unreadable bytes.
      isPartAFile: () => true,
      preservePath: true,
    })
    parser.on('file', (...[name, file, filename, , contentType]) => {
      const part: Part = { name, filename, contentType, bytes: Buffer.alloc(0) }
      const chunks: Buffer[] = []
      parts.push(part)
      file.on('data', (chunk: Buffer) => chunks.push(chunk))
      file.on('end', () => {
        part.bytes = Buffer.concat(chunks)
      })
      file.on('error', () => resolve('it ends in the middle of a part.'))
    })
    parser.on('error', () => resolve('it ends too early, or a part is malformed.'))
    parser.on('finish', () => resolve(parts))
    parser.end(body)
  })
}

/** A part is a file if it has a file name or declares itself as bytes. */
const isFile = ({ filename, contentType }: Part): boolean =>
  filename !== undefined || contentType === 'application/octet-stream'

function fileValue({ bytes, filename, contentType }: Part): unknown {
  return { filename: filename ?? null, content_type: contentType, size: bytes.length, base64: bytes.toString('base64') }
}

function collect(parts: readonly Part[], announced: readonly Announced[]): DecodedForm {
  const form = new FormCollector()
  for (const [index, part] of parts.entries()) {
    const { name } = part
    if (name === undefined) return refused('a part has no name.')
    if (name.includes(UNREADABLE) || part.filename?.includes(UNREADABLE) === true)
      return refused('the name of a part is not UTF-8.')
    const { charset } = announced[index] ?? {}
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

type Announced = { readonly charset?: string | undefined }

const CHARSET = /\r\ncontent-type:[^\r\n]*;[ \t]*charset[ \t]*=[ \t]*"?([\w.:-]{1,40})/i
const HEADERS_END = Buffer.from('\r\n\r\n')
const HEADERS_BYTES_MAX = 8_192

/**
 * The parts that the body announces before its closing delimiter. The parser drops some silently, and does not report their
 * charset.
 */
function announcedParts(body: Buffer, boundary: string): readonly Announced[] {
  const delimiter = Buffer.from(`\r\n--${boundary}`, 'latin1')
  const parts: Announced[] = []
  const first = delimiter.subarray(2)
  let at = body.subarray(0, first.length).equals(first) ? -2 : body.indexOf(delimiter)
  while (at !== -1) {
    const after = at + delimiter.length
    if (body.toString('latin1', after, after + 2) === '--' || parts.length > LIMITS.multipartPartsMax) break
    const head = body.subarray(after, after + HEADERS_BYTES_MAX)
    const end = head.indexOf(HEADERS_END)
    parts.push({ charset: CHARSET.exec(head.toString('latin1', 0, end < 0 ? head.length : end))?.[1] })
    at = body.indexOf(delimiter, after)
  }
  return parts
}

function refused(why: string): DecodedForm {
  return { ok: false, error: `The multipart body could not be read: ${why}` }
}
