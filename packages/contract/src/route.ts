import type { z } from 'zod'

export const ROLES = ['viewer', 'developer', 'admin', 'owner'] as const
export type Role = (typeof ROLES)[number]
/** The rungs of what a person grants to a connected agent; the higher includes the lower ones. */
export const SCOPES = ['service:read', 'service:write', 'service:manage'] as const
export type Scope = (typeof SCOPES)[number]

/** Who may read: every role. */
export const READ = { role: 'viewer', scope: 'service:read', callers: 'all', whileSuspended: 'read' } as const
/** Who may create, change and delete what is in a project. */
export const WRITE = { role: 'developer', scope: 'service:write', callers: 'all', whileSuspended: 'refused' } as const
/** Who may manage the workspace. */
export const MANAGE = { role: 'admin', scope: 'service:manage', callers: 'all', whileSuspended: 'refused' } as const

type Fields = z.ZodObject | undefined

/**
 * One route of the admin API as a value. REST, OpenAPI, SDK, CLI and console are all read from it.
 * `area: 'project'` stands under `/admin/api/projects/{project_id}/` and, for the Default project, under `/admin/api/`.
 */
export type Route<
  Params extends Fields = Fields,
  Query extends Fields = Fields,
  Body extends Fields = Fields,
  Output extends z.ZodType = z.ZodType,
> = {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly area: 'project' | 'workspace'
  /** Relative to the area; members in braces are the fields of `params`. */
  readonly path: string
  /** An earlier path that is still answered, and is no longer documented. */
  readonly formerPath?: string
  readonly summary: string
  readonly description: string
  /** The least role that may call it. */
  readonly role: Role
  /** The least scope of a connected agent. */
  readonly scope: Scope
  /** `people`: contract part 5 lets no connected agent and no API key call it, at any scope or role. */
  readonly callers: 'all' | 'people'
  /**
   * Contract part 1, suspension. `read`: goes on, for nothing is changed, whatever the method; `refused`: a write;
   * `allowed`: a write of the contract's list of exceptions.
   */
  readonly whileSuspended: 'read' | 'refused' | 'allowed'
  /** A write that a closed workspace may do too, as long as it is not suspended. */
  readonly whileClosed?: 'allowed'
  /** It is about the workspaces of a person: one who is in none may call it too, and its Idempotency-Key is the person's, wherever the session goes. */
  readonly withoutWorkspace?: true
  /** A workspace route that a key for one project may call too. Project routes it may always call, under its own project. */
  readonly forOneProjectKeys?: true
  readonly status: 200 | 201
  readonly params?: Params
  readonly query?: Query
  readonly body?: Body
  readonly output: Output
  /** The answer holds a secret that is shown once. */
  readonly showsSecret?: true
  /** A POST that takes no Idempotency-Key: what it shows once must not be stored to be shown again. */
  readonly refusesIdempotencyKey?: true
  /** The answer is a file that streams, of this media type and name; `output` is `Chunks`. */
  readonly download?: {
    readonly type: string
    readonly name: string
    /** Any part of it can be asked for; `output` is `FileBytes`. */ readonly stored?: true
  }
}

/** Keeps the literal types of a route, so that its verb is typed by it. */
export function defineRoute<
  const Params extends Fields = undefined,
  const Query extends Fields = undefined,
  const Body extends Fields = undefined,
  const Output extends z.ZodType = z.ZodType,
>(route: Route<Params, Query, Body, Output>): Route<Params, Query, Body, Output> {
  return route
}

type Parsed<F> = F extends z.ZodType ? z.output<F> : unknown
type Sent<F> = F extends z.ZodType ? z.input<F> : unknown

/** What a verb is asked: path, query and body members in one object, parsed. */
export type RouteInput<R> = R extends Route<infer P, infer Q, infer B> ? Parsed<P> & Parsed<Q> & Parsed<B> : never
/** What a client sends: the same members before parsing. */
export type RouteRequest<R> = R extends Route<infer P, infer Q, infer B> ? Sent<P> & Sent<Q> & Sent<B> : never
/** What a verb gives back. */
export type RouteOutput<R> = R extends Route<Fields, Fields, Fields, infer O> ? z.input<O> : never
/** What a client reads. */
export type RouteAnswer<R> = R extends Route<Fields, Fields, Fields, infer O> ? z.output<O> : never
