import { decodeId } from '@postroad/contract'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Deps } from '../../context.ts'
import { refuse } from '../../domain/refusal.ts'
import { publicPortal } from '../../resources/serving/portal-api/index.ts'
import { portalHeaders } from '../page-headers.ts'
import type { Build } from './build.ts'
import { BUILDING_PAGE } from './building.ts'
import { sendFile } from './send-file.ts'

type Parts = { readonly deps: Pick<Deps, 'database'>; readonly builds: () => Build | undefined }

/**
 * The page of each customer portal, at `/portal/{id}` and below it. Its headers follow the settings of the portal: the pages that may
 * embed it, and the origins of its logos. The page itself reads its token from the fragment, which no server sees.
 */
export function mountPortalPage(fastify: FastifyInstance, { deps, builds }: Parts): void {
  const sendPage = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const id = decodeId('portal', idIn(request))
    const portal = id === undefined ? undefined : await publicPortal(deps, id)
    return send({ request, reply }, builds(), {
      isThere: portal !== undefined,
      images: portal === undefined ? [] : originsOf([portal.branding.logo, portal.branding.logo_dark]),
      ancestors: portal?.frame_origins ?? [],
    })
  }
  // The console shows looks that are not saved yet, so their logos can be of any origin. Only the console may frame it.
  fastify.get('/portal/preview', (request, reply) =>
    send({ request, reply }, builds(), { isThere: true, images: ['https:'], ancestors: [] }),
  )
  fastify.get('/portal/embed.js', (request, reply) => {
    const embed = builds()?.embed
    if (embed === undefined) throw refuse('route_not_found')
    return sendFile(request, reply.headers(EMBED_HEADERS), embed)
  })
  // Only ids, so that the router answers unknown addresses of the API.
  for (const url of ['/portal/:portal_id(^prt_\\w+$)', '/portal/:portal_id(^prt_\\w+$)/*']) fastify.get(url, sendPage)
}

/** Pages of every origin may load the script: it contains no secret, and only the portal decides who may have it in a frame. */
const EMBED_HEADERS = {
  'Cache-Control': 'public, max-age=3600',
  'Access-Control-Allow-Origin': '*',
  'Cross-Origin-Resource-Policy': 'cross-origin',
  'X-Content-Type-Options': 'nosniff',
}

type Exchange = { readonly request: FastifyRequest; readonly reply: FastifyReply }
type Shown = { readonly isThere: boolean; readonly images: readonly string[]; readonly ancestors: readonly string[] }

// oxlint-disable-next-line max-params -- the exchange, the build, and what is shown
function send(
  { request, reply }: Exchange,
  build: Build | undefined,
  { isThere, images, ancestors }: Shown,
): FastifyReply {
  const page = build?.portal
  reply.headers(portalHeaders({ scriptHashes: page?.scriptHashes ?? [], images, ancestors }))
  reply.status(isThere ? (page === undefined ? 503 : 200) : 404)
  if (page !== undefined) return sendFile(request, reply, page.page)
  return reply.header('Retry-After', '2').type('text/html; charset=utf-8').send(BUILDING_PAGE)
}

function idIn({ params }: FastifyRequest): string {
  return typeof params === 'object' && params !== null && 'portal_id' in params ? String(params.portal_id) : ''
}

/** The origins of https images; an image in a data: URL has none. */
function originsOf(urls: readonly (string | null)[]): readonly string[] {
  const parsed = urls.map((url) => (url === null ? null : URL.parse(url)))
  return [...new Set(parsed.flatMap((url) => (url?.protocol === 'https:' ? [url.origin] : [])))]
}
