import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'

/** The size of the pieces in which a file is stored; the last one may be shorter. It never changes, because it locates every byte. */
export const CHUNK_BYTES = 524_288

export type Entry = { readonly name: string; readonly content: () => AsyncIterable<string> }

/**
 * One zip of these entries in pieces of `CHUNK_BYTES`, made as fast as they are taken. Only the current part of an entry and of the zip is in
 * memory. It uses ZIP64 where an entry or the whole exceeds 4 GiB. `hash` covers the pieces taken so far.
 */
export async function archive(
  entries: readonly Entry[],
  { at }: { at: Date },
): Promise<{ readonly chunks: AsyncGenerator<Buffer>; readonly hash: () => Buffer }> {
  const { ZipFile } = await import('yazl')
  const zip = new ZipFile()
  const hash = createHash('sha256')
  // An entry that fails ends the zip, and its reader, with its error.
  zip.on('error', (cause) =>
    asReadable(zip.outputStream).destroy(cause instanceof Error ? cause : new Error(String(cause))),
  )
  for (const { name, content } of entries) {
    zip.addReadStreamLazy(name, { mtime: at, mode: 0o100_644, compress: true }, (ready) => {
      ready(null, Readable.from(content()))
    })
  }
  zip.end()
  return { chunks: pieces(asReadable(zip.outputStream), (piece) => hash.update(piece)), hash: () => hash.digest() }
}

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it is a PassThrough; its types say less
const asReadable = (stream: NodeJS.ReadableStream): Readable => stream as Readable

async function* pieces(stream: Readable, taken: (piece: Buffer) => void): AsyncGenerator<Buffer> {
  let held: Buffer[] = []
  let bytes = 0
  for await (const part of stream) {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a stream of bytes
    held.push(part as Buffer)
    bytes += held.at(-1)?.length ?? 0
    while (bytes >= CHUNK_BYTES) {
      const all = Buffer.concat(held)
      const piece = all.subarray(0, CHUNK_BYTES)
      held = [all.subarray(CHUNK_BYTES)]
      bytes -= CHUNK_BYTES
      taken(piece)
      yield piece
    }
  }
  if (bytes === 0) return
  const rest = Buffer.concat(held)
  taken(rest)
  yield rest
}
