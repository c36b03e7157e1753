import { SSO_REPLACE_PATH } from '@postroad/contract'
import type { FastifyInstance } from 'fastify'
import { errorBody, refuse } from '../../domain/refusal.ts'

/**
 * Contract part 4: replacing an SSO configuration is 501 for everyone, before a check of version, credential, plan,
 * role or body. The answer comes before the body is read, so that not even its size matters.
 */
export function mountSsoConfiguration(fastify: FastifyInstance): void {
  const refusal = refuse('sso_not_available')
  fastify.put(
    `/admin/api/${SSO_REPLACE_PATH.replace('{id}', ':id')}`,
    { onRequest: async (_request, reply) => reply.status(refusal.status).send(errorBody(refusal)) },
    () => undefined,
  )
}
