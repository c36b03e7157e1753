import { z } from 'zod'

/** The output of a `download` route: the text of the file in chunks, so that neither side stores it whole. */
export const Chunks = z.custom<AsyncIterable<string>>()

/** The same for a file of bytes. */
export const ByteChunks = z.custom<AsyncIterable<Uint8Array>>()

/** A stored file. Any part of it can be read; `to` is exclusive. `etag` stays the same as long as the bytes do. */
export type StoredFile = {
  readonly bytes: number
  readonly etag: string
  read(range: { readonly from: number; readonly to: number }): AsyncIterable<Uint8Array>
}

/** The output of a `download` route with a stored file: the server returns the file, and a client reads its bytes in chunks. */
// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- nothing parses it: the server returns one type, and the client reads the other
export const FileBytes = z.custom() as unknown as z.ZodType<AsyncIterable<Uint8Array>, StoredFile>
