import { z } from 'zod'

/** The output of a route with a `download`: the text of the file, piece by piece, so that nobody holds it whole. */
export const Chunks = z.custom<AsyncIterable<string>>()

/** A file that is stored: any part of it can be read, `to` outside of it. `etag` is the same as long as its bytes are. */
export type StoredFile = {
  readonly bytes: number
  readonly etag: string
  read(range: { readonly from: number; readonly to: number }): AsyncIterable<Uint8Array>
}

/** The output of a route with a `download` that is stored: the server has the file, a client reads its bytes piece by piece. */
// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- nothing parses it; the two sides see their own end of it
export const FileBytes = z.custom() as unknown as z.ZodType<AsyncIterable<Uint8Array>, StoredFile>
