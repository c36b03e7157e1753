import type { FastifyRequest } from 'fastify'

/** The parts of a request that checks and routes read. */
export type Requested = Pick<FastifyRequest, 'id' | 'method' | 'url' | 'headers' | 'params' | 'query' | 'body'>
