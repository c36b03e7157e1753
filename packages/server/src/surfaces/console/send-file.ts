import type { FastifyReply, FastifyRequest } from 'fastify'
import { bestCoding } from '../accept-encoding.ts'
import type { Build } from './build.ts'

/** Sends a file of the build in the best encoding that the client takes. */
export function sendFile(request: FastifyRequest, reply: FastifyReply, { type, bodies }: Build['page']): FastifyReply {
  const encoding = bestCoding(request.headers['accept-encoding'] ?? '', bodies)
  if (encoding !== undefined) reply.header('Content-Encoding', encoding)
  return reply.header('Vary', 'Accept-Encoding').header('Content-Type', type).send(bodies.get(encoding))
}
