import type { IncomingMessage } from 'node:http'
import { DATASET_NAME, type CloseReason } from '@postroad/contract'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { isoDate } from '../../domain/routing/iso-date.ts'
import { Refusal, refuse } from '../../domain/refusal.ts'
import { decodePosition, encodePosition, type Position } from '../../domain/serving/stream-cursor.ts'
import type { Road } from '../../pipeline/accept.ts'
import { since, type StreamScope } from '../../resources/serving/stream/index.ts'
import { admitWork } from '../admit-work.ts'
import type { Streams } from './hub.ts'
import { admitted, keyOf, planOf, seenBy, keyCloseReason } from './ingest-key.ts'
import { openServerSentEvents } from './server-sent-events.ts'
import type { Tail } from './session.ts'
import type { Upgrades } from './web-socket.ts'
import type { Wire } from './wire.ts'

/** Applies the checks of the admin API to the stream of a workspace, or of the project in the path. */
export type Admit = (
  request: FastifyRequest,
  reply: FastifyReply,
) => Promise<
  StreamScope & { /** The streams that the plan allows; null: any number. */ readonly connectionsMax: number | null }
>

export type StreamParts = {
  readonly road: Road
  readonly streams: Streams
  readonly admit: Admit
  readonly sourceIp: (request: IncomingMessage) => string | undefined
  readonly upgrades: Upgrades
}

const RETRY_SECONDS = 10
const PREFLIGHT = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Allow-Methods': 'GET',
  'Access-Control-Allow-Headers': 'Authorization, Last-Event-ID',
  'Access-Control-Max-Age': '86400',
}
/** A stream ends within 5 s after its permission ends. The next check and its query need a part of that time. */
const ADMIN_CHECK_MS = 4_000

/** `GET /v1/stream` for ingest keys, and the stream of the admin API: SSE, or a WebSocket if the client asks for one. */
export function mountStream(fastify: FastifyInstance, door: StreamParts): void {
  const get = (url: string, handler: (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>): void => {
    fastify.route({ method: 'GET', url, exposeHeadRoute: false, handler })
  }
  get('/v1/stream', (request, reply) => serveKey(door, request, reply))
  // A browser sends a preflight for a page that puts its key into a header (Fetch, CORS).
  fastify.options('/v1/stream', (_request, reply) => reply.status(204).headers(PREFLIGHT).send())
  get('/admin/api/stream', (request, reply) => serveAdmin(door, request, reply))
  get('/admin/api/projects/:project_id/stream', (request, reply) => serveAdmin(door, request, reply))
}

/** An unknown key gets the same 401 as a missing one, so that guessing reveals nothing. */
async function serveKey(door: StreamParts, request: FastifyRequest, reply: FastifyReply): Promise<unknown> {
  // A page of any origin may read with a key, because only the key counts and cookies are ignored.
  reply.header('Access-Control-Allow-Origin', '*')
  const key = keyOf(request, one(request, 'key'))
  const at = { key: key ?? '', ip: door.sourceIp(request.raw) }
  const { plan, keyId, key: held } = admitted(key === undefined ? undefined : await planOf(door.road, at))
  if (plan.inactive !== undefined) return turnAway(door, { request, reply, reason: plan.inactive })
  const all = readAsked(request)
  const asked = { ...all, datasets: seenBy(held, all.datasets) }
  const { workspaceId, projectId } = plan
  admitWork(door.road.work, { workspaceId, limits: plan.limits, reply })
  door.road.keyUses.note({ plan, ingestKeyId: keyId })
  const closeReason = (): ReturnType<Tail['closeReason']> => {
    const now = planOf(door.road, at)
    return now instanceof Promise
      ? now.then((then) => keyCloseReason(then, asked.datasets))
      : keyCloseReason(now, asked.datasets)
  }
  return serve(door, {
    request,
    reply,
    asked,
    scope: { workspaceId, projectId },
    connectionsMax: plan.limits.stream_connections,
    sightings: false,
    requests: false,
    closeReason,
  })
}

async function serveAdmin(door: StreamParts, request: FastifyRequest, reply: FastifyReply): Promise<unknown> {
  const { connectionsMax, ...scope } = await door.admit(request, reply)
  if (door.upgrades.asked(request.raw)) requireOwnOrigin(door.road, request)
  const asked = readAsked(request)
  // The checks still admit a session whose person was removed or moved, but to another workspace.
  const elsewhereReason = (now: StreamScope): CloseReason | undefined =>
    now.workspaceId === scope.workspaceId && now.projectId === scope.projectId ? undefined : 'credential_revoked'
  let checkedAt = door.road.clock.now()
  const closeReason = (): ReturnType<Tail['closeReason']> => {
    const now = door.road.clock.now()
    if (now < checkedAt + ADMIN_CHECK_MS) return undefined
    checkedAt = now
    return door.admit(request, reply).then(elsewhereReason, (error: unknown) => {
      if (error instanceof Refusal) return 'credential_revoked'
      throw error
    })
  }
  // A client that forwards requests wants nothing else, so nobody reads deliveries and refusals for it.
  const requests = readDetail(one(request, 'detail')) === 'request'
  return serve(door, { request, reply, asked, scope, connectionsMax, sightings: !requests, requests, closeReason })
}

/** A browser sends the session cookie with a WebSocket that a page of another origin opens. Its Origin reveals that. */
function requireOwnOrigin({ baseUrl }: Road, { headers }: FastifyRequest): void {
  if (headers.authorization !== undefined || headers.origin === undefined) return
  const own = [new URL(baseUrl()).origin, `http://${headers.host}`, `https://${headers.host}`]
  if (!own.includes(headers.origin)) throw refuse('origin_not_allowed')
}

type Serving = Exchange &
  Pick<Tail, 'scope' | 'sightings' | 'requests' | 'closeReason'> & {
    readonly asked: Asked
    readonly connectionsMax: number | null
  }
type Exchange = { readonly request: FastifyRequest; readonly reply: FastifyReply }

/** The streams of ingest keys and of the admin API share the places of the plan. */
async function serve(
  door: StreamParts,
  { request, reply, asked, connectionsMax, ...may }: Serving,
): Promise<FastifyReply> {
  const { places } = door.streams
  const place = await places.take(may.scope.workspaceId, connectionsMax)
  if (place === undefined) return turnAway(door, { request, reply, reason: 'stream_limit_reached' })
  // A time in the future counts as now.
  const from = asked.from === 'now' || asked.from.floor > door.road.clock.now() ? 'now' : asked.from
  try {
    await door.streams.serve({ ...may, from, datasets: asked.datasets }, (start) =>
      open(door, { request, reply }, { 'Stream-Cursor': encodePosition(start) }),
    )
    return reply
  } finally {
    places.leave(place)
  }
}

async function open(
  { upgrades }: StreamParts,
  { request, reply }: Exchange,
  own: Readonly<Record<string, string>>,
): Promise<Wire> {
  const headers = { ...own }
  for (const [name, value] of Object.entries(reply.getHeaders())) headers[name] = String(value)
  reply.hijack()
  if (upgrades.asked(request.raw)) return upgrades.open(request.raw, headers)
  return openServerSentEvents(reply.raw, { cursor: own['Stream-Cursor'] ?? '', headers })
}

/** A browser cannot read the status of a refused WebSocket, but it can read the code that closed one. */
async function turnAway(
  door: StreamParts,
  at: Exchange & { reason: 'workspace_suspended' | 'workspace_closed' | 'stream_limit_reached' },
): Promise<FastifyReply> {
  const { request, reply, reason } = at
  if (!door.upgrades.asked(request.raw)) {
    throw reason === 'stream_limit_reached'
      ? new Refusal(reason, { fields: { retry_after: RETRY_SECONDS } })
      : refuse(reason)
  }
  const wire = await open(door, { request, reply }, {})
  wire.close(reason satisfies CloseReason)
  return reply
}

type Asked = { readonly from: Position | 'now'; readonly datasets: ReadonlySet<string> | undefined }

/** `Last-Event-ID` comes before `after`, because an EventSource that reconnects uses the same URL. Both come before `since`. */
function readAsked(request: FastifyRequest): Asked {
  const header = request.headers['last-event-id']
  const cursor = typeof header === 'string' && header !== '' ? header : one(request, 'after')
  return {
    from: cursor === undefined ? readSince(one(request, 'since')) : readCursor(cursor),
    datasets: readDatasets(one(request, 'dataset')),
  }
}

function readCursor(cursor: string): Position {
  const position = decodePosition(cursor)
  if (position === undefined)
    throw refuse(
      'invalid_request',
      'The cursor is not valid. Send the id of the last event of this stream unchanged, or leave it out.',
    )
  return position
}

const ISO_TIME = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d))?$/

function readSince(text: string | undefined): Position | 'now' {
  if (text === undefined) return 'now'
  const at = ISO_TIME.test(text) ? isoDate(text) : undefined
  if (at === undefined) throw refuse('invalid_request', 'since must be a time such as 2026-01-15T12:00:00Z.')
  return since(Date.parse(at))
}

function readDetail(text: string | undefined): 'sender' | 'request' {
  if (text === undefined || text === 'sender' || text === 'request') return text ?? 'sender'
  throw refuse('invalid_request', 'detail must be "sender", or "request" to include each request as received.')
}

function readDatasets(text: string | undefined): ReadonlySet<string> | undefined {
  if (text === undefined) return undefined
  const names = text
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '')
  const wrong = names.find((name) => !DATASET_NAME.test(name))
  if (wrong !== undefined)
    throw refuse(
      'invalid_request',
      `dataset: ${JSON.stringify(wrong.slice(0, 70))} is not a dataset name. A name starts with a letter, followed by up to 62 letters, digits or underscores.`,
    )
  return names.length === 0 ? undefined : new Set(names)
}

function one(request: FastifyRequest, name: string): string | undefined {
  const { query } = request
  if (typeof query !== 'object' || query === null) return undefined
  const value = new Map<string, unknown>(Object.entries(query)).get(name)
  const first: unknown = Array.isArray(value) ? value[0] : value
  return typeof first === 'string' && first !== '' ? first : undefined
}
