import type { z } from 'zod'

export const ROLES = ['viewer', 'developer', 'admin', 'owner'] as const
export type Role = (typeof ROLES)[number]
/** The levels of access that a person grants to a connected agent. A higher level includes the lower ones. */
export const SCOPES = ['service:read', 'service:write', 'service:manage'] as const
export type Scope = (typeof SCOPES)[number]

/** The flags of a route that reads. */
export const READ = { role: 'viewer', scope: 'service:read', callers: 'all', whileSuspended: 'read' } as const
/** The flags of a route that creates, changes or deletes something in a project. */
export const WRITE = { role: 'developer', scope: 'service:write', callers: 'all', whileSuspended: 'refused' } as const
/** The flags of a route that manages the workspace. */
export const MANAGE = { role: 'admin', scope: 'service:manage', callers: 'all', whileSuspended: 'refused' } as const
/** The flags of a route that only admins may read. */
export const ADMINS_READ = { ...MANAGE, whileSuspended: 'read' } as const
/** A change by an operator of the installation (docs/adr/0130). Their role and their own workspace do not count. */
export const OPERATE = {
  role: 'viewer',
  scope: 'service:manage',
  callers: 'people',
  operator: true,
  withoutWorkspace: true,
  whileSuspended: 'allowed',
} as const
/** A read by an operator. */
export const OPERATORS_READ = { ...OPERATE, whileSuspended: 'read' } as const

type Fields = z.ZodObject | undefined

/**
 * One route of the admin API as a value. REST, OpenAPI, SDK, CLI and console are all derived from it. Routes with `area: 'project'`
 * are under `/admin/api/projects/{project_id}/` and, for the Default project, under `/admin/api/`.
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
  /** An earlier path that still works but is no longer documented. */
  readonly previousPath?: string
  readonly summary: string
  readonly description: string
  /** The lowest role that may call it. */
  readonly role: Role
  /** The lowest scope of a connected agent that may call it. */
  readonly scope: Scope
  /** `people`: no connected agent and no API key may call it, at any scope or role (contract part 5). */
  readonly callers: 'all' | 'people'
  /**
   * While the workspace is suspended (contract part 1). `read`: allowed, because the route changes nothing, even if it
   * is a POST; `refused`: a write; `allowed`: a write in the contract's list of exceptions.
   */
  readonly whileSuspended: 'read' | 'refused' | 'allowed'
  /** A write that an owner may do while the workspace is suspended: their data stays theirs. */
  readonly ownersWhileSuspended?: true
  /** With `dry_run: true` in its body it changes nothing, so it is a read then. */
  readonly dryRun?: true
  /** A write that is also allowed in a closed workspace, as long as it is not suspended. */
  readonly whileClosed?: 'allowed'
  /** It is about a person's workspaces, so a person without one may call it. Its Idempotency-Key counts in all. */
  readonly withoutWorkspace?: true
  /** The account of an agent may call it only after a person has claimed the account (contract part 1). */
  readonly afterClaim?: true
  /** Only for operators of the installation, regardless of their role in a workspace. */
  readonly operator?: true
  /** A workspace route that a key for one project may also call. Such a key may always call the routes of its project. */
  readonly forOneProjectKeys?: true
  readonly status: 200 | 201
  readonly params?: Params
  readonly query?: Query
  readonly body?: Body
  readonly output: Output
  /** The response contains a secret that is shown once. */
  readonly showsSecret?: true
  /** A POST without Idempotency-Key: the contract says that no answer shows an API key again. */
  readonly refusesIdempotencyKey?: true
  /**
   * The verb waits for another system. Under an Idempotency-Key it runs outside of a transaction, which would have a
   * connection meanwhile, so its answer is stored in a separate commit after its work.
   */
  readonly waitsForOthers?: true
  /** The response is a file of this media type and name, sent in chunks; `output` is `Chunks`. */
  readonly download?: {
    readonly type: string
    readonly name: string
    /** The content of a JSON file, for the OpenAPI document. */
    readonly named?: string
    /** The file is not text; `output` is `ByteChunks`. */ readonly bytes?: true
    /** The file is stored, so any part of it can be requested; `output` is `FileBytes`. */ readonly stored?: true
  }
}

/** Retains the literal types of a route, which give its verb its types. */
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

/** The input of a verb: the parsed members of path, query and body in one object. */
export type RouteInput<R> = R extends Route<infer P, infer Q, infer B> ? Parsed<P> & Parsed<Q> & Parsed<B> : never
/** The input of a client: the same members before parsing. */
export type RouteRequest<R> = R extends Route<infer P, infer Q, infer B> ? Sent<P> & Sent<Q> & Sent<B> : never
/** The output of a verb. */
export type RouteOutput<R> = R extends Route<Fields, Fields, Fields, infer O> ? z.input<O> : never
/** The output for a client. */
export type RouteAnswer<R> = R extends Route<Fields, Fields, Fields, infer O> ? z.output<O> : never
