import { routes, type Route } from '@postroad/contract'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Ctx, Deps } from '../../context.ts'
import { refusalOf } from '../../domain/access.ts'
import { refuse } from '../../domain/refusal.ts'
import { rooms } from '../../resources/index.ts'
import { findDefaultProject, findProject } from '../../resources/projects/index.ts'
import { findWorkspace } from '../../resources/workspaces/index.ts'
import { authenticate } from './authenticate.ts'
import { projectOf, readInput } from './read-input.ts'
import { checkServiceVersion } from './service-version.ts'

export type Mounted = { readonly route: Route; readonly room: string; readonly verb: string; readonly url: string }
type AnyVerb = (ctx: Ctx, input: object) => Promise<unknown>

/** Where every contract route answers: project routes under their project, and under the root for the Default project. */
export function mountedRoutes(): readonly Mounted[] {
  const mounted: Mounted[] = []
  for (const [room, verbs] of Object.entries(routes)) {
    for (const [verb, route] of Object.entries<Route>(verbs)) {
      if (route.area === 'project') mounted.push({ route, room, verb, url: `/admin/api/projects/{project_id}/${route.path}` })
      mounted.push({ route, room, verb, url: `/admin/api/${route.path}` })
    }
  }
  return mounted
}

/** Contract routes × room verbs → HTTP. */
export function mountAdmin(fastify: FastifyInstance, deps: Deps): void {
  for (const { route, room, verb, url } of mountedRoutes()) {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- Rooms has a verb for every route of its name, or it does not compile
    const run = (rooms as Readonly<Record<string, Readonly<Record<string, AnyVerb>>>>)[room]?.[verb]
    if (run === undefined) throw new Error(`The route ${room}.${verb} has no verb.`)
    fastify.route({
      method: route.method,
      url: url.replaceAll(/\{(\w+)\}/g, ':$1'),
      handler: (request, reply) => handle({ deps, route, run }, request, reply),
    })
  }
}

type Serving = { readonly deps: Deps; readonly route: Route; readonly run: AnyVerb }

/** The order of checks on every call: version, who, which project, may they, what do they ask. */
async function handle({ deps, route, run }: Serving, request: FastifyRequest, reply: FastifyReply): Promise<unknown> {
  const { actor, workspaceId, projectId } = await admit({ deps, route }, request, reply)
  const input = readInput(route, request)
  const ctx: Ctx = { ...deps, db: deps.database, actor, workspaceId, projectId, requestId: request.id, ip: request.ip }
  const answer = route.output.parse(await run(ctx, input))
  if (route.showsSecret === true) reply.header('Cache-Control', 'no-store')
  return reply.status(route.status).send(answer)
}

type Admitting = { readonly deps: Deps; readonly route: Pick<Route, 'area' | 'path' | 'role' | 'whileSuspended'> }

/** Who calls, and for which project: the one that the path names, or the Default project. Throws a Refusal to whom it does not let in. */
export async function admit({ deps, route }: Admitting, request: FastifyRequest, reply: FastifyReply): Promise<Pick<Ctx, 'actor' | 'workspaceId' | 'projectId'>> {
  checkServiceVersion(request, reply)
  const { actor, workspaceId } = await authenticate(deps, request)
  const named = route.area === 'project' ? projectOf(request) : undefined
  const denied = refusalOf(actor, { route, projectId: named })
  if (denied !== undefined) throw denied
  const workspace = await findWorkspace(deps.database, workspaceId)
  if (workspace === undefined) throw refuse('unauthorized')
  if (workspace.suspended_at !== null && route.whileSuspended === 'refused') throw refuse('workspace_suspended')
  return { actor, workspaceId, projectId: await resolveProject(deps, { workspaceId, named }) }
}

async function resolveProject(deps: Deps, at: { workspaceId: string; named: string | undefined }): Promise<string> {
  const { workspaceId, named } = at
  const project = named === undefined ? await findDefaultProject(deps.database, workspaceId) : await findProject(deps.database, { workspaceId, projectId: named })
  if (project === undefined) throw refuse('not_found')
  return project.id
}
