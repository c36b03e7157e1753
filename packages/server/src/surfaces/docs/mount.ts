import { projectConfigSchema } from '@postroad/contract/project-config'
import type { FastifyInstance } from 'fastify'
import { pageHeaders } from '../page-headers.ts'
import { GUIDE_URLS, guides, type Guide, type Section } from './guide.ts'
import { referencePage, type ApiDocument } from './reference.ts'

/** The format of a project configuration, for editors and for the command line. */
const PROJECT_CONFIG_SCHEMA = '/docs/project-config.schema.json'

const HTML = 'text/html; charset=utf-8'

/** `/docs`: the guides, the API reference, and the search index. They need no sign-in and load nothing from other origins. */
export function mountDocs(fastify: FastifyInstance, document: () => object): void {
  // The first request renders the guides, so that they do not delay the start of the server.
  let rendered: readonly Guide[] | undefined
  const pages = (): readonly Guide[] => (rendered ??= guides())
  for (const at of GUIDE_URLS)
    fastify.get(at, (_request, reply) =>
      reply.headers(pageHeaders(HTML)).send(pages().find(({ url }) => url === at)?.html),
    )
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- OpenAPI 3.1 has this shape
  const api = (): ApiDocument => document() as ApiDocument
  let page: string | undefined
  fastify.get('/docs/api', (_request, reply) => {
    page ??= referencePage(api())
    return reply.headers(pageHeaders(HTML)).send(page)
  })
  let schema: string | undefined
  fastify.get(PROJECT_CONFIG_SCHEMA, (_request, reply) => {
    schema ??= JSON.stringify(projectConfigSchema((api().servers[0]?.url ?? '') + PROJECT_CONFIG_SCHEMA), null, 2)
    return reply.headers(pageHeaders('application/schema+json; charset=utf-8')).send(schema)
  })
  let index: string | undefined
  fastify.get('/docs/search.json', (_request, reply) => {
    index ??= JSON.stringify([...pages().flatMap(({ sections }) => sections), ...operationsOf(api())])
    return reply.headers(pageHeaders('application/json; charset=utf-8')).send(index)
  })
}

/** An operation as a search result. Its twin for the Default project would repeat it, so it is left out. */
function operationsOf({ paths }: ApiDocument): readonly Section[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([, { operationId }]) => !operationId.endsWith('.default'))
      .map(([method, { operationId, summary, description = '' }]) => ({
        page: 'API',
        title: summary,
        url: `/docs/api#${operationId}`,
        text: `${method.toUpperCase()} ${path} ${description}`,
      })),
  )
}
