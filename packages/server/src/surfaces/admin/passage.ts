import type { IncomingMessage } from 'node:http'
import type { FastifyReply } from 'fastify'
import type { Deps } from '../../context.ts'
import type { Guards, NamedProject } from '../../domain/people/access.ts'
import type { PlanLimits } from '../../domain/workspace/plan.ts'
import { refuse } from '../../domain/refusal.ts'
import type { Claim, StoredResponse } from '../../resources/workspace/idempotency-records/index.ts'
import type { RequestRates } from '../request-rates.ts'
import type { Caller } from './authenticate.ts'
import type { Requested } from '../requested.ts'

/** The dependencies of the admin surface. */
export type Door = Deps & {
  readonly rates: RequestRates
  /** The address of the sender; undefined when it is unknown. */
  readonly sourceIp: (request: IncomingMessage) => string | undefined
}

/** One request on its way up the ladder: the request, and the results of the rungs so far. */
export type Passage = {
  readonly request: Requested
  readonly reply: FastifyReply
  readonly route: Guards
  readonly project: NamedProject
  readonly ip: string | undefined
  /** The operation, such as `destinations.list`; absent: the request calls none. */
  readonly call?: string
  /** The surface accepts no cookie. */
  readonly bearerOnly?: true
  /** The number of requests that it counts as; absent: one. */
  readonly counts?: number
  caller: Caller | undefined
  claim: Claim | undefined
  /** The limits of the plan of the workspace, once they are read. */
  limits?: PlanLimits | undefined
}

/** A rung throws a Refusal, returns the stored response of an earlier equal request, or lets the request pass. */
export type Check = (door: Door, passage: Passage) => Promise<StoredResponse | void> | StoredResponse | void

/** The caller, for every rung above authentication. */
export function callerOf({ caller }: Passage): Caller {
  if (caller === undefined) throw refuse('unauthorized')
  return caller
}
