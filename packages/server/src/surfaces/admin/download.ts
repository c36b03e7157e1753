import { Readable } from 'node:stream'
import type { Route } from '@postroad/contract'
import type { FastifyReply } from 'fastify'
import type { Deps } from '../../context.ts'

/** A file as fast as the reader takes it. One that breaks off ends without its last chunk, so that no reader takes it for whole. */
export function sendDownload(deps: Pick<Deps, 'log'>, reply: FastifyReply, of: { download: NonNullable<Route['download']>; chunks: AsyncIterable<string> }): FastifyReply {
  const { download, chunks } = of
  const file = Readable.from(chunks)
  file.on('error', (cause) => deps.log.error('request.failed', { request_id: reply.request.id, method: 'GET', route: reply.request.routeOptions.url, cause }))
  return reply
    .headers({ 'Content-Type': download.type, 'Content-Disposition': `attachment; filename="${download.name}"`, 'Cache-Control': 'no-store', 'X-Content-Type-Options': 'nosniff' })
    .send(file)
}
