import { SERVICE_VERSION, SERVICE_VERSIONS } from '@postroad/contract'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { Refusal } from '../domain/refusal.ts'

const SERVED: ReadonlySet<string> = new Set(SERVICE_VERSIONS)

/** Contract part 9: every response carries its version, including errors. An unsupported version is refused with 400 and the list. */
export function checkServiceVersion(request: Pick<FastifyRequest, 'headers'>, reply: FastifyReply): void {
  reply.header('Service-Version', SERVICE_VERSION)
  // Node joins the values of a repeated header with commas. A proxy may add one to that of the client, and an empty value asks for nothing.
  const asked = [request.headers['service-version'] ?? []]
    .flat()
    .flatMap((value) => value.split(','))
    .map((value) => value.trim())
  if (asked.every((value) => value === '' || SERVED.has(value))) return
  throw new Refusal('unsupported_version', {
    text: `This server does not support the requested Service-Version. Send ${SERVICE_VERSIONS.join(' or ')}, or leave the header out.`,
    fields: { supported_versions: [...SERVICE_VERSIONS] },
  })
}
