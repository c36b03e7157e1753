import { isUtf8 } from 'node:buffer'
import { LIMITS } from '@postroad/contract'
import { Busboy } from '@fastify/busboy'
import { type DecodedForm, FormCollector } from './form-fields.ts'

const BOUNDARY = /;\s*boundary=(?:"([\x20-\x7e]{1,200}?)"|([!#-+\x2d-:<-~]{1,200}))/i

/** One part as it was announced, in the order of the body; a file fills in its value when it has ended. */
type Part = { readonly name: string | undefined; value: unknown }

/**
 * Reads multipart/form-data: a text field is a string, a file `{filename, content_type, size, base64}`, a repeated
 * name a list. Nothing is dropped silently: a part that cannot be read refuses the body. Always settles, never
 * rejects.
 */
export async function decodeMultipart(input: {
  readonly body: Buffer
  readonly contentType: string
}): Promise<DecodedForm> {
  const [, quoted, bare] = BOUNDARY.exec(input.contentType) ?? []
  const boundary = quoted ?? bare
  if (boundary === undefined) return refused('the Content-Type names no boundary.')

  const announced = countParts(input.body, boundary)
  if (announced > LIMITS.multipartPartsMax) return refused(`it has more than ${LIMITS.multipartPartsMax} parts.`)

  const parts = await readParts(input.body, boundary)
  if (typeof parts === 'string') return refused(parts)
  if (parts.length !== announced) return refused('a part is not form data, or its headers are malformed.')
  if (parts.length === 0) return refused('it has no parts.')
  return collect(parts)
}

/** The parts, or what is wrong with the body. */
function readParts(body: Buffer, boundary: string): Promise<readonly Part[] | string> {
  return new Promise((resolve) => {
    const parts: Part[] = []
    const parser = new Busboy({
      headers: { 'content-type': `multipart/form-data; boundary="${boundary}"` },
      // Text arrives as bytes, so that what is not UTF-8 is refused rather than replaced.
      defCharset: 'latin1',
      preservePath: true,
      limits: { fieldSize: Infinity },
    })
    parser.on('field', (name: string | undefined, binary) => {
      const bytes = Buffer.from(binary, 'latin1')
      if (isUtf8(bytes)) parts.push({ name, value: bytes.toString('utf8') })
      else resolve('a field is not UTF-8; send it as a file.')
    })
    parser.on('file', (...[name, file, filename, , contentType]) => {
      const part: Part = { name, value: undefined }
      const chunks: Buffer[] = []
      parts.push(part)
      file.on('data', (chunk: Buffer) => chunks.push(chunk))
      file.on('end', () => {
        part.value = fileValue(Buffer.concat(chunks), { filename, contentType })
      })
      file.on('error', () => resolve('it ends in the middle of a file.'))
    })
    parser.on('error', () => resolve('it ends too early, or a part is malformed.'))
    parser.on('finish', () => resolve(parts))
    parser.end(body)
  })
}

function fileValue(
  bytes: Buffer,
  about: { readonly filename: string | undefined; readonly contentType: string },
): unknown {
  return {
    filename: about.filename ?? null,
    content_type: about.contentType,
    size: bytes.length,
    base64: bytes.toString('base64'),
  }
}

function collect(parts: readonly Part[]): DecodedForm {
  const form = new FormCollector()
  for (const { name, value } of parts) {
    if (name === undefined) return refused('a part has no name.')
    form.add(name, value)
  }
  return { ok: true, fields: form.fields }
}

/** How many parts the body announces before its closing delimiter: the parser drops some without a word. */
function countParts(body: Buffer, boundary: string): number {
  const delimiter = Buffer.from(`\r\n--${boundary}`, 'latin1')
  let count = 0
  const first = delimiter.subarray(2)
  let at = body.subarray(0, first.length).equals(first) ? -2 : body.indexOf(delimiter)
  while (at !== -1) {
    const after = at + delimiter.length
    if (body.toString('latin1', after, after + 2) === '--' || count > LIMITS.multipartPartsMax) break
    count += 1
    at = body.indexOf(delimiter, after)
  }
  return count
}

function refused(why: string): DecodedForm {
  return { ok: false, error: `The multipart body could not be read: ${why}` }
}
