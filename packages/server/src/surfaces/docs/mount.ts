import type { FastifyInstance } from 'fastify'
import { pageHeaders } from '../page-headers.ts'
import { guides, type Section } from './guide.ts'
import { referencePage, type ApiDocument } from './reference.ts'

const HTML = 'text/html; charset=utf-8'

/** `/docs`: the guides, the API to read, and what their search looks through. They need no signing in and load nothing from elsewhere. */
export function mountDocs(fastify: FastifyInstance, document: () => object): void {
  // They change with the version only, and the reference with where the server is reached too.
  const pages = guides()
  for (const { url, html } of pages) fastify.get(url, (_request, reply) => reply.headers(pageHeaders(HTML)).send(html))
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- OpenAPI 3.1 has this shape
  const api = (): ApiDocument => document() as ApiDocument
  let page: string | undefined
  fastify.get('/docs/api', (_request, reply) => {
    page ??= referencePage(api())
    return reply.headers(pageHeaders(HTML)).send(page)
  })
  let index: string | undefined
  fastify.get('/docs/search.json', (_request, reply) => {
    index ??= JSON.stringify([...pages.flatMap(({ sections }) => sections), ...operationsOf(api())])
    return reply.headers(pageHeaders('application/json; charset=utf-8')).send(index)
  })
}

/** An operation as a search finds it. Its twin for the Default project would say the same again. */
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
