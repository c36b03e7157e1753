import type { FastifyInstance } from 'fastify'
import { pageHeaders } from '../page-headers.ts'
import { referencePage, type ApiDocument } from './reference.ts'

/** `GET /docs`: the OpenAPI document as a page to read. It needs no signing in and no script but for its filter. */
export function mountReference(fastify: FastifyInstance, document: () => object): void {
  // The document changes with the version only, and with where the server is reached.
  let page: string | undefined
  fastify.get('/docs', (_request, reply) => {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- OpenAPI 3.1 has this shape
    page ??= referencePage(document() as ApiDocument)
    return reply.headers(pageHeaders('text/html; charset=utf-8')).send(page)
  })
}
