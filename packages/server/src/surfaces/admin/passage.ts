import type { IncomingMessage } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Deps } from '../../context.ts'
import type { Guards, NamedProject } from '../../domain/people/access.ts'
import { refuse } from '../../domain/refusal.ts'
import type { Claim, KeptResponse } from '../../resources/workspace/idempotency-records/index.ts'
import type { RequestRates } from '../request-rates.ts'
import type { Caller } from './authenticate.ts'

/** What the admin surface may use. */
export type Door = Deps & {
  readonly rates: RequestRates
  /** The address of the sender; undefined when it cannot be told. */
  readonly sourceIp: (request: IncomingMessage) => string | undefined
}

/** One request on its way up the ladder: what came in, and what the rungs have found out so far. */
export type Passage = {
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  readonly route: Guards
  readonly project: NamedProject
  readonly ip: string | undefined
  caller: Caller | undefined
  claim: Claim | undefined
}

/** A rung: throws a Refusal, gives the answer that a former equal request had, or lets pass. */
export type Check = (door: Door, passage: Passage) => Promise<KeptResponse | void> | KeptResponse | void

/** Who calls, on every rung above authentication. */
export function callerOf({ caller }: Passage): Caller {
  if (caller === undefined) throw refuse('unauthorized')
  return caller
}
