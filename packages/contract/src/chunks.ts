import { z } from 'zod'

/** The output of a route with a `download`: the text of the file, piece by piece, so that nobody holds it whole. */
export const Chunks = z.custom<AsyncIterable<string>>()
