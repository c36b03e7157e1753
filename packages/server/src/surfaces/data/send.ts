import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { bestCoding } from '../accept-encoding.ts'

const compress = promisify(gzip)
const GZIP: ReadonlySet<string> = new Set(['gzip'])
/** Below this, compression saves nothing. */
const COMPRESSED_FROM_BYTES = 1_024

export type Body = {
  readonly type: string
  readonly bytes: Buffer
  readonly headers?: Readonly<Record<string, string>>
}
type Exchange = { readonly request: FastifyRequest; readonly reply: FastifyReply }

/**
 * Sends a body with its ETag, or 304 to a client that already has it. The tag is weak, because it is the same for every
 * coding.
 */
export async function sendBody({ request, reply }: Exchange, { type, bytes, headers }: Body): Promise<FastifyReply> {
  const etag = `W/"${createHash('sha256').update(bytes).digest('base64url').slice(0, 27)}"`
  reply.headers({
    ...headers,
    ETag: etag,
    'Cache-Control': 'private, no-cache',
    Vary: 'Accept, Accept-Encoding, Authorization',
  })
  if (has(request.headers['if-none-match'], etag)) return reply.status(304).send()
  reply.type(type)
  const accepted = request.headers['accept-encoding'] ?? ''
  if (bytes.length < COMPRESSED_FROM_BYTES || bestCoding(accepted, GZIP) === undefined) return reply.send(bytes)
  return reply.header('Content-Encoding', 'gzip').send(await compress(bytes))
}

/** Compared weakly (RFC 9110): a list of tags, or `*`. */
function has(sent: string | undefined, etag: string): boolean {
  if (sent === undefined) return false
  return sent.split(',').some((tag) => tag.trim() === '*' || tag.trim().replace(/^W\//, '') === etag.slice(2))
}
