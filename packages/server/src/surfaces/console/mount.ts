import { CONSOLE_SCREENS, RESERVED_ROOTS } from '@postroad/contract'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { refuse } from '../../domain/refusal.ts'
import { consoleHeaders } from '../page-headers.ts'
import { BUILDING_PAGE } from './building.ts'
import { createBuilds } from './build.ts'
import { sendFile } from './send-file.ts'

/** A hashed name always has the same content. */
const FOREVER = 'public, max-age=31536000, immutable'

export type Console = {
  /** Mounts the files that the page loads, under /assets. */
  mount(fastify: FastifyInstance): void
  /** The page, for a GET that no route answers; undefined when the path does not belong to the console. */
  page(request: FastifyRequest, reply: FastifyReply): FastifyReply | undefined
}

/**
 * The console: its files, and its page for every other GET (contract part 4, ingest rule 1), for any caller. Where the
 * console has no screen the status is 404. That includes the URL of an endpoint, whether or not the endpoint exists.
 * Roots that the contract reserves do not belong to the console, except `/settings`.
 */
export function createConsole(builds = createBuilds()): Console {
  const sendPage = (request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    const build = builds()
    const hasScreen = isScreen(request.url)
    if (build !== undefined)
      return sendFile(
        request,
        reply.status(hasScreen ? 200 : 404).headers(consoleHeaders(build.scriptHashes)),
        build.page,
      )
    return reply
      .status(hasScreen ? 503 : 404)
      .headers({ ...consoleHeaders([]), 'Retry-After': '2' })
      .type('text/html; charset=utf-8')
      .send(BUILDING_PAGE)
  }
  return {
    mount: (fastify) => {
      fastify.get('/', sendPage)
      fastify.get('/assets/:file', (request, reply) => {
        const file = builds()?.files.get(fileIn(request))
        if (file === undefined) throw refuse('route_not_found')
        return sendFile(request, reply.headers({ 'Cache-Control': FOREVER, 'X-Content-Type-Options': 'nosniff' }), file)
      })
    },
    page: (request, reply) => (isRead(request) && isConsolePath(request.url) ? sendPage(request, reply) : undefined),
  }
}

const isRead = ({ method }: FastifyRequest): boolean => method === 'GET' || method === 'HEAD'

function isConsolePath(url: string): boolean {
  const root = url.split(/[/?]/)[1] ?? ''
  return root === 'settings' || !RESERVED_ROOTS.has(root)
}

const SCREENS: ReadonlySet<string> = new Set(CONSOLE_SCREENS)

/**
 * True for the start page, for the pages of billing and of agents, for a project and for the screens of a project. It
 * does not check which projects exist.
 */
function isScreen(url: string): boolean {
  const parts = (url.split('?')[0] ?? '').split('/').filter((part) => part !== '')
  if (parts[0] === 'settings') return parts.length === 2 && ['billing', 'agents'].includes(parts[1] ?? '')
  if (RESERVED_ROOTS.has(parts[0] ?? '')) return false
  return parts.length === 0 || parts.length === 2 || (parts.length === 3 && SCREENS.has(parts[2] ?? ''))
}

function fileIn({ params }: FastifyRequest): string {
  return typeof params === 'object' && params !== null && 'file' in params && typeof params.file === 'string'
    ? params.file
    : ''
}
