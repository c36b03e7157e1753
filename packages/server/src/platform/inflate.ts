import { createBrotliDecompress, createGunzip, createInflate, createInflateRaw, createZstdDecompress } from 'node:zlib'

/** The supported compressions of a body. */
export type Coding = 'gzip' | 'deflate' | 'br' | 'zstd'

/** RFC 9110, 8.4.1: "x-gzip" means the same. */
const CODINGS: Readonly<Record<string, Coding | 'identity'>> = {
  '': 'identity',
  identity: 'identity',
  gzip: 'gzip',
  'x-gzip': 'gzip',
  deflate: 'deflate',
  br: 'br',
  zstd: 'zstd',
}

/** The coding in a Content-Encoding; undefined: an unknown one. Some senders write a charset there, which compresses nothing. */
export function codingOf(header: string | undefined): Coding | 'identity' | undefined {
  if (header === undefined) return 'identity'
  const name = header.trim().toLowerCase()
  if (Object.hasOwn(CODINGS, name)) return CODINGS[name]
  return isCharset(name) ? 'identity' : undefined
}

/** True for every label of the Encoding Standard, such as `utf-8` and `latin1`. */
function isCharset(name: string): boolean {
  try {
    return new TextDecoder(name).encoding !== ''
  } catch {
    return false
  }
}

/**
 * Inflates a body on the thread pool and stops at `bytesMax`: the limit bounds memory and time, whatever the sender sends.
 * `broken`: another format, cut off, or followed by other bytes.
 */
export function inflate(
  coding: Coding,
  sent: { readonly body: Buffer; readonly bytesMax: number },
): Promise<Buffer | 'too_large' | 'broken'> {
  const { body, bytesMax } = sent
  const stream = streamOf(coding, body)
  return new Promise((resolve) => {
    const chunks: Buffer[] = []
    let size = 0
    stream.on('data', (chunk: Buffer) => {
      size += chunk.length
      chunks.push(chunk)
      if (size <= bytesMax) return
      stream.destroy()
      resolve('too_large')
    })
    stream.on('error', () => resolve('broken'))
    stream.on('end', () => resolve(stream.bytesWritten === body.length ? Buffer.concat(chunks) : 'broken'))
    stream.end(body)
  })
}

function streamOf(coding: Coding, body: Buffer) {
  switch (coding) {
    case 'gzip':
      return createGunzip()
    case 'br':
      return createBrotliDecompress()
    case 'zstd':
      return createZstdDecompress()
    case 'deflate':
      return isZlib(body) ? createInflate() : createInflateRaw()
  }
}

/** RFC 9110 means zlib by "deflate", but some senders omit its two bytes of header (RFC 1950, 2.2). */
function isZlib(body: Buffer): boolean {
  return body.length >= 2 && (body.readUInt8(0) & 0x0f) === 8 && body.readUInt16BE(0) % 31 === 0
}
