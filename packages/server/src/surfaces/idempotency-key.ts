import type { FastifyRequest } from 'fastify'
import { refuse } from '../domain/refusal.ts'

/** Printable ASCII without spaces. */
const KEY = /^[!-~]{1,255}$/

/** The key of a POST; undefined without one. Refuses an invalid key, even where keys have no effect. */
export function readIdempotencyKey({
  method,
  headers,
}: Pick<FastifyRequest, 'method' | 'headers'>): string | undefined {
  const key = headers['idempotency-key']
  if (method !== 'POST' || key === undefined) return undefined
  if (typeof key !== 'string' || !KEY.test(key)) throw refuse('invalid_idempotency_key')
  return key
}
