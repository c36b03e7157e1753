import { ErrorBody, routes, type Route, type StoredFile } from '@postroad/contract'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Ctx } from '../../context.ts'
import type { Guards, NamedProject } from '../../domain/people/access.ts'
import { RawJson, stringifyAnswer } from '../../domain/json/raw-json.ts'
import { refuse } from '../../domain/refusal.ts'
import type { StoredResponse } from '../../resources/workspace/idempotency-records/index.ts'
import { rooms } from '../../resources/index.ts'
import { findDefaultProject, findProject } from '../../resources/workspace/projects/index.ts'
import { sendDownload, sendStored } from './download.ts'
import { onceUnder, slowUnder } from './idempotency.ts'
import { climb } from './ladder.ts'
import { callerOf, type Door, type Passage } from './passage.ts'
import { projectOf, readInput } from '../read-input.ts'

export type Mounted = {
  readonly route: Route
  readonly room: string
  readonly verb: string
  readonly url: string
  /** True for an earlier address of the route, which still works but is no longer documented. */
  readonly previous: boolean
}
type AnyVerb = (ctx: Ctx, input: object) => Promise<unknown>

/** The URLs of every contract route: project routes under their project, and under the root for the Default project. */
export function mountedRoutes(): readonly Mounted[] {
  return Object.entries(routes).flatMap(([room, verbs]) =>
    Object.entries<Route>(verbs).flatMap(([verb, route]) => {
      const urls = urlsOf(route, route.path).map((url) => ({ route, room, verb, url, previous: false }))
      if (route.previousPath === undefined) return urls
      return [...urls, ...urlsOf(route, route.previousPath).map((url) => ({ route, room, verb, url, previous: true }))]
    }),
  )
}

function urlsOf({ area }: Route, path: string): readonly string[] {
  const alias = `/admin/api/${path}`
  return area === 'project' ? [`/admin/api/projects/{project_id}/${path}`, alias] : [alias]
}

/** Mounts the verb of each contract route. */
export function mountAdmin(fastify: FastifyInstance, door: Door): void {
  for (const { route, room, verb, url } of mountedRoutes()) {
    const run = verbOf(room, verb)
    fastify.route({
      method: route.method,
      url: url.replaceAll(/\{(\w+)\}/g, ':$1'),
      // A HEAD request must not make the server write the file.
      exposeHeadRoute: route.download === undefined,
      handler: (request, reply) => handle({ door, route, run, call: `${room}.${verb}` }, { request, reply }),
    })
  }
}

/** The verb of a contract route. */
export function verbOf(room: string, verb: string): AnyVerb {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- Rooms has a verb for every route of its name, or it does not compile
  const run = (rooms as Readonly<Record<string, Readonly<Record<string, AnyVerb>>>>)[room]?.[verb]
  if (run === undefined) throw new Error(`The route ${room}.${verb} has no verb.`)
  return run
}

type Serving = { readonly door: Door; readonly route: Route; readonly run: AnyVerb; readonly call: string }
type Exchange = { readonly request: FastifyRequest; readonly reply: FastifyReply }

/** Runs the checks. Then it reads the input and runs the verb, or sends the stored response of an equal request. */
async function handle({ door, route, run, call }: Serving, exchange: Exchange): Promise<FastifyReply> {
  const passage = { ...passageOf(door, route, exchange), call }
  const earlier = await climb(door, passage)
  if (earlier !== undefined) return send(exchange.reply.header('Idempotent-Replayed', 'true'), earlier)
  const ctx = contextOf(door, passage, route)
  const answer = (to: Ctx): Promise<unknown> => answerOf(to, { route, run }, passage)
  if (route.download !== undefined)
    return sendFile(door, exchange, { download: route.download, given: await answer(ctx) })
  const work = async (to: Ctx): Promise<StoredResponse> => ({
    status: route.status,
    json: jsonOf(route, await answer(to)),
  })
  const isSlow = route.whileSuspended === 'read' || route.waitsForOthers === true
  const under = isSlow ? slowUnder : onceUnder
  return send(exchange.reply, await (passage.claim === undefined ? work(ctx) : under(ctx, passage.claim, work)))
}

/** A verb whose answer may be long writes it itself. */
function jsonOf(route: Route, answer: unknown): string {
  return answer instanceof RawJson ? answer.text : stringifyAnswer(route.output.parse(answer))
}

/** The context of the verb, without a project yet. */
export function contextOf(door: Door, passage: Passage, route: Pick<Route, 'withoutWorkspace'>): Ctx {
  const { actor, workspaceId } = callerOf(passage)
  // A route about the workspaces of a person reads the workspaces of others too. Every other route reads only its workspace.
  const database = route.withoutWorkspace === true ? door.database.forSystem : door.database.forWorkspace(workspaceId)
  return {
    ...door,
    database,
    db: database,
    actor,
    workspaceId,
    projectId: NOWHERE,
    requestId: passage.request.id,
    ip: passage.ip,
  }
}

/** Reads the input and runs the verb, in the project that the request names. */
export async function answerOf(
  ctx: Ctx,
  { route, run }: Pick<Serving, 'route' | 'run'>,
  passage: Passage,
): Promise<unknown> {
  const projectId = route.withoutWorkspace === true ? NOWHERE : await resolveProject(ctx, passage.project)
  return run({ ...ctx, projectId }, readInput(route, passage.request))
}

// oxlint-disable-next-line max-params -- the door, the exchange, and the file
function sendFile(
  door: Door,
  exchange: Exchange,
  { download, given }: { download: NonNullable<Route['download']>; given: unknown },
): FastifyReply {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the output of a route with a stored download is FileBytes
  if (download.stored === true) return sendStored(door, exchange, { download, file: given as StoredFile })
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- otherwise it is Chunks or ByteChunks
  return sendDownload(door, exchange, { download, chunks: given as AsyncIterable<string | Uint8Array> })
}

/** The project id until the project is resolved. */
const NOWHERE = ''

/** A request before its first check. */
export function passageOf(door: Door, route: Guards, { request, reply }: Exchange): Passage {
  return {
    request,
    reply,
    route,
    project: projectOf(request),
    ip: door.sourceIp(request.raw),
    caller: undefined,
    claim: undefined,
  }
}

function send(reply: FastifyReply, { status, json }: StoredResponse): FastifyReply {
  // A refusal that is sent again also has its wait in a header, as it had the first time.
  const wait = status >= 400 ? ErrorBody.safeParse(JSON.parse(json)).data?.retry_after : undefined
  if (wait !== undefined) reply.header('Retry-After', String(wait))
  return reply.status(status).type('application/json; charset=utf-8').send(json)
}

/**
 * The caller, the limits of the plan, and the project that the path names or the Default project, for URLs that are not contract routes. Throws the Refusal of
 * the ladder.
 */
export async function admit(
  door: Door,
  route: Guards,
  exchange: Exchange,
): Promise<Pick<Ctx, 'actor' | 'workspaceId' | 'projectId'> & Pick<Passage, 'limits'>> {
  const passage = passageOf(door, route, exchange)
  await climb(door, passage)
  const { actor, workspaceId } = callerOf(passage)
  return {
    actor,
    workspaceId,
    limits: passage.limits,
    projectId: await resolveProject({ db: door.database.forWorkspace(workspaceId), workspaceId }, passage.project),
  }
}

async function resolveProject(
  { db, workspaceId }: Pick<Ctx, 'db' | 'workspaceId'>,
  named: NamedProject,
): Promise<string> {
  if (named.kind === 'unknown') throw refuse('not_found')
  const project =
    named.kind === 'default'
      ? await findDefaultProject(db, workspaceId)
      : await findProject(db, { workspaceId, projectId: named.id })
  if (project === undefined) throw refuse('not_found')
  return project.id
}
