import { RESERVED_ROOTS } from '@postroad/contract'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { refuse } from '../../domain/refusal.ts'
import { consoleHeaders } from '../page-headers.ts'
import { BUILDING_PAGE } from './building.ts'
import { createBuilds, type Build, type Encoding } from './build.ts'

/** Hashed names never change what they mean. */
const FOREVER = 'public, max-age=31536000, immutable'

export type Console = {
  /** The files that the page loads, under /assets. */
  mount(fastify: FastifyInstance): void
  /** The page, for a GET that no route answers; undefined when it is not the console that is asked for. */
  page(request: FastifyRequest, reply: FastifyReply): FastifyReply | undefined
}

/**
 * The console: its files, and its page for every other GET (contract part 4, ingest rule 1) of who reads pages: a sender that
 * GETs the URL of an endpoint is better told that nothing is there. Roots that the contract reserves are not the console's, but
 * for `/settings`; a URL there that nothing serves is a 404.
 */
export function createConsole(builds = createBuilds()): Console {
  const sendPage = (request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    const build = builds()
    if (build !== undefined) return send(request, reply.headers(consoleHeaders(build.scriptHashes)), build.page)
    return reply.status(503).headers({ ...consoleHeaders([]), 'Retry-After': '2' }).type('text/html; charset=utf-8').send(BUILDING_PAGE)
  }
  return {
    mount: (fastify) => {
      fastify.get('/', sendPage)
      fastify.get('/assets/:file', (request, reply) => {
        const file = builds()?.files.get(fileIn(request))
        if (file === undefined) throw refuse('route_not_found')
        return send(request, reply.headers({ 'Cache-Control': FOREVER, 'X-Content-Type-Options': 'nosniff' }), file)
      })
    },
    page: (request, reply) => (readsPages(request) && isConsolePath(request.url) ? sendPage(request, reply) : undefined),
  }
}

function readsPages({ method, headers }: FastifyRequest): boolean {
  return (method === 'GET' || method === 'HEAD') && headers.accept?.includes('text/html') === true
}

function isConsolePath(url: string): boolean {
  const root = url.split(/[/?]/)[1] ?? ''
  return root === 'settings' || !RESERVED_ROOTS.has(root)
}

function fileIn({ params }: FastifyRequest): string {
  return typeof params === 'object' && params !== null && 'file' in params && typeof params.file === 'string' ? params.file : ''
}

function send(request: FastifyRequest, reply: FastifyReply, { type, bodies }: Build['page']): FastifyReply {
  const encoding = bestEncoding(request.headers['accept-encoding'] ?? '', bodies)
  if (encoding !== undefined) reply.header('Content-Encoding', encoding)
  return reply.header('Vary', 'Accept, Accept-Encoding').header('Content-Type', type).send(bodies.get(encoding))
}

function bestEncoding(accepted: string, bodies: ReadonlyMap<Encoding, Buffer>): Encoding {
  const tokens = accepted.split(',').map((token) => token.trim().toLowerCase()).filter((token) => !/;\s*q=0(?:\.0*)?$/.test(token)).map((token) => token.split(';')[0])
  return (['br', 'gzip'] as const).find((encoding) => tokens.includes(encoding) && bodies.has(encoding))
}
