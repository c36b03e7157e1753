import type { IncomingMessage } from 'node:http'
import type { FastifyRequest } from 'fastify'
import type { Deps } from '../../../context.ts'
import type { Visit } from '../../../resources/people/sign-in/index.ts'
import type { RequestRates } from '../../request-rates.ts'
import { readSessionCookie } from '../session-cookie.ts'

export type DoorParts = {
  readonly deps: Deps
  readonly sourceIp: (request: IncomingMessage) => string | undefined
  /** Shared with the rest of the admin API: a person has one limit for all of it. */
  readonly rates: RequestRates
}

/** The visitor: the address, the browser, and the current session. */
export async function visitOf({ deps, sourceIp }: DoorParts, request: FastifyRequest): Promise<Visit> {
  return {
    ...deps,
    requestId: request.id,
    ip: sourceIp(request.raw),
    userAgent: request.headers['user-agent'],
    cookieSecret: await readSessionCookie(deps, request),
  }
}
