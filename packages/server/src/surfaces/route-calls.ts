import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Actor } from '../domain/people/actor.ts'

/** A call of a contract route by another surface: the members of its path, query and body, as a client would send them. */
export type RouteCall = {
  readonly room: string
  readonly verb: string
  /** The id of the project in its public form; absent: the only project of the key, or the Default project. */
  readonly project?: string | undefined
  readonly params: Readonly<Record<string, unknown>>
  readonly query: Readonly<Record<string, unknown>>
  readonly body: Readonly<Record<string, unknown>>
}

/** A caller that passed the entrance. */
export type Entered = {
  readonly actor: Actor
  /** Throws the Refusal of a route above the grant of a connected agent, and stores it as the last refusal of the agent. */
  refuseAboveGrant(asked: Pick<RouteCall, 'room' | 'verb'>): Promise<void>
  /** Runs the route with the same checks, verb and audit as a request to it. Throws the Refusal; returns the body of the response. */
  call(asked: RouteCall): Promise<unknown>
}

/** The routes of the admin API for another surface, which identifies its callers by a bearer token only. */
export type RouteCalls = {
  /** The checks that need no route. Counts `count` requests of the credential. Throws the Refusal. */
  enter(exchange: RouteExchange): Promise<Entered>
}

export type RouteExchange = { readonly request: FastifyRequest; readonly reply: FastifyReply; readonly count: number }
