import { Readable } from 'node:stream'
import type { Route, StoredFile } from '@postroad/contract'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Deps } from '../../context.ts'
import { readRange, type ByteRange } from '../../domain/serving/byte-range.ts'
import { refuse } from '../../domain/refusal.ts'

type Download = NonNullable<Route['download']>
type Exchange = { readonly request: FastifyRequest; readonly reply: FastifyReply }

/**
 * Sends a file as fast as the reader takes it. If it breaks off, the last chunk is missing, so that no reader takes the
 * file for complete.
 */
export function sendDownload(
  deps: Pick<Deps, 'log'>,
  { reply }: Exchange,
  of: { download: Download; chunks: AsyncIterable<string | Uint8Array> },
): FastifyReply {
  return headed(reply, of.download).send(streamed(deps, reply, of.chunks))
}

/** Sends a stored file, or the requested part of it, so a client can resume a download from any node. */
export function sendStored(
  deps: Pick<Deps, 'log'>,
  { request, reply }: Exchange,
  of: { download: Download; file: StoredFile },
): FastifyReply {
  const { bytes, etag } = of.file
  const range = rangeOf(request, of.file)
  if (range === 'outside') {
    reply.header('Content-Range', `bytes */${bytes}`)
    throw refuse('range_not_satisfiable')
  }
  const { from, to } = range === 'whole' ? { from: 0, to: bytes } : range
  headed(reply, of.download).headers({ 'Accept-Ranges': 'bytes', ETag: etag, 'Content-Length': String(to - from) })
  if (range !== 'whole') reply.status(206).header('Content-Range', `bytes ${from}-${to - 1}/${bytes}`)
  return reply.send(streamed(deps, reply, of.file.read({ from, to })))
}

/** With `If-Range`, a range applies only to the file with that tag. */
function rangeOf({ headers }: FastifyRequest, { bytes, etag }: StoredFile): ByteRange | 'whole' | 'outside' {
  const known = headers['if-range']
  return known === undefined || known === etag ? readRange(headers.range, bytes) : 'whole'
}

function headed(reply: FastifyReply, { type, name }: Download): FastifyReply {
  return reply.headers({
    'Content-Type': type,
    'Content-Disposition': `attachment; filename="${name}"`,
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
  })
}

function streamed(deps: Pick<Deps, 'log'>, reply: FastifyReply, pieces: AsyncIterable<string | Uint8Array>): Readable {
  const file = Readable.from(pieces)
  file.on('error', (cause) =>
    deps.log.error('request.failed', {
      request_id: reply.request.id,
      method: 'GET',
      route: reply.request.routeOptions.url,
      cause,
    }),
  )
  return file
}
