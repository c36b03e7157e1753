import {
  constants,
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createZstdDecompress,
  type Gunzip,
} from 'node:zlib'

type Body = {
  /** The first bytes, as they arrived. */
  readonly bytes: Buffer
  /** The body has more bytes. */
  readonly isCut: boolean
  readonly headers: Readonly<Record<string, string>>
  readonly keptMax: number
}
type BodyText = { readonly body: string; readonly truncated: boolean }

/** The body of a response as people read it. A body with an unknown coding stays as it is. */
export function bodyText(of: Body): BodyText | Promise<BodyText> {
  const coding = of.headers['content-encoding']?.trim().toLowerCase()
  const open = coding === undefined || of.bytes.length === 0 ? undefined : DECODERS.get(coding)
  return open === undefined ? textOf(of) : decoded(open(), of).then(textOf)
}

/** A body that is cut off still shows its start. */
const [PARTIAL, PARTIAL_BROTLI, PARTIAL_ZSTD] = [
  { finishFlush: constants.Z_SYNC_FLUSH },
  { finishFlush: constants.BROTLI_OPERATION_FLUSH },
  { finishFlush: constants.ZSTD_e_flush },
]
const DECODERS: ReadonlyMap<string, () => Gunzip> = new Map<string, () => Gunzip>([
  ['gzip', () => createGunzip(PARTIAL)],
  ['x-gzip', () => createGunzip(PARTIAL)],
  ['deflate', () => createInflate(PARTIAL)],
  ['br', () => createBrotliDecompress(PARTIAL_BROTLI)],
  ['zstd', () => createZstdDecompress(PARTIAL_ZSTD)],
])

/** Stops at `keptMax`, so a small body that inflates to a huge one costs nothing. */
function decoded(decoder: Gunzip, of: Body): Promise<Body> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = []
    let size = 0
    const end = (isCut: boolean): void => {
      decoder.destroy()
      const bytes = Buffer.concat(chunks)
      resolve({ ...of, bytes: bytes.subarray(0, of.keptMax), isCut: isCut || bytes.length > of.keptMax })
    }
    decoder.on('data', (chunk: Buffer) => {
      size += chunk.length
      chunks.push(chunk)
      if (size > of.keptMax) end(true)
    })
    decoder.on('end', () => end(of.isCut))
    // The bytes are not what the header says, or break off.
    decoder.on('error', () => (size > 0 ? end(true) : resolve(of)))
    decoder.end(of.bytes)
  })
}

function textOf({ bytes, isCut, headers }: Body): BodyText {
  const [, charset = 'utf-8'] = /;\s*charset\s*=\s*"?([^\s;"]+)/i.exec(headers['content-type'] ?? '') ?? []
  const isPlain = /^utf-?8$/i.test(charset) && !isCut
  const text = isPlain ? bytes.toString() : decode(bytes, { charset, isCut })
  return { body: text.replaceAll('\0', '\ufffd'), truncated: isCut }
}

/** A character that the limit cuts in half is left out. */
function decode(bytes: Buffer, { charset, isCut }: { readonly charset: string; readonly isCut: boolean }): string {
  try {
    return new TextDecoder(charset, { ignoreBOM: true }).decode(bytes, { stream: isCut })
  } catch {
    // The decoder does not have this charset.
    return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes, { stream: isCut })
  }
}
