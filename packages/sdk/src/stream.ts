import { SERVICE_VERSION, type StreamFrameData } from './contract.ts'
import { areaOf } from './request.ts'
import { backOffMs, pause } from './retry.ts'
import { blocksIn } from './server-sent-events.ts'
import { refusalIn, ServiceError, serviceError } from './service-error.ts'
import { silence, textOf, type Connection } from './transport.ts'

export type StreamOptions = {
  /** Only records (and deliveries) of these datasets. */
  readonly datasets?: readonly string[] | undefined
  /** Continues after this `cursor` of an earlier event, without loss and without repetition. */
  readonly after?: string | undefined
  /** Starts with the events that were received from this time on. Without `after` and `since` the stream starts now. */
  readonly since?: Date | string | undefined
  /** Ends the stream: the iteration throws the reason of the signal. */
  readonly signal?: AbortSignal | undefined
}

type FrameType = Exclude<keyof StreamFrameData, 'closing'>

/** An event of the stream. `cursor` is the position after it: store it, and give it as `after` to continue there. */
export type StreamEvent = {
  readonly [Type in FrameType]: {
    readonly type: Type
    readonly cursor: string | undefined
    readonly data: StreamFrameData[Type]
  }
}[FrameType]

/** The server sends a comment every 15 seconds, so a longer silence means that the connection is lost. */
const SILENCE_MS = 45_000
const TYPES: ReadonlySet<string> = new Set<FrameType>(['record', 'delivery', 'rejection', 'holds', 'gap'])
/** The server ends a stream for these reasons when another connection would be refused too. */
const FINAL: Readonly<Record<string, number>> = {
  workspace_suspended: 403,
  workspace_closed: 403,
  credential_revoked: 401,
}

/**
 * The events of a workspace or project as they are stored. After the connection ends, it reconnects from the last
 * event, so the iteration ends only when the caller ends it, or when the server no longer permits it.
 */
export async function* streamOf(connection: Connection, options: StreamOptions): AsyncGenerator<StreamEvent> {
  const at: Place = { cursor: options.after, failures: 0, wasOpen: false }
  for (;;) {
    let waitMs = 0
    try {
      yield* eventsOf(connection, options, at)
    } catch (error) {
      // The pause below throws the reason of a caller who has aborted.
      if (options.signal?.aborted !== true) waitMs = passing(error, connection, at)
    }
    // oxlint-disable-next-line no-await-in-loop -- the wait before the next connection
    await pause(Math.max(waitMs, backOffMs(at.failures)), options.signal)
    at.failures += 1
  }
}

/** The position of a reader: its last event, and the number of connections without an event since then. */
type Place = { cursor: string | undefined; failures: number; wasOpen: boolean }

/** The events of one connection. */
async function* eventsOf(connection: Connection, options: StreamOptions, at: Place): AsyncGenerator<StreamEvent> {
  for await (const frame of framesOf(connection, { ...options, after: at.cursor })) {
    at.wasOpen = true
    at.cursor = frame.cursor ?? at.cursor
    if (frame.type === 'closing') throw endOf(frame.data)
    if (!isEvent(frame)) continue
    at.failures = 0
    yield { ...frame, cursor: at.cursor }
  }
}

/**
 * The minimum wait after a temporary failure. Throws any other: a refusal that the next connection would get too, or a
 * server that never answered.
 */
function passing(error: unknown, { maxRetries }: Connection, { failures, wasOpen }: Place): number {
  if (!(error instanceof ServiceError)) throw error
  const { status, retryAfter = 0 } = error
  const mayPass = status === 0 || status === 429 || status >= 500
  if (!mayPass || (!wasOpen && failures >= maxRetries)) throw error
  return retryAfter * 1_000
}

type Frame = { readonly type: string; readonly cursor: string | undefined; readonly data: unknown }

function isEvent(frame: Frame): frame is StreamEvent {
  return TYPES.has(frame.type)
}

function endOf(data: unknown): ServiceError {
  const reason = typeof data === 'object' && data !== null && 'reason' in data ? String(data.reason) : 'unavailable'
  return serviceError(`The server has ended the stream: ${reason}.`, { status: FINAL[reason] ?? 503, reason })
}

/** The frames of one connection. Its first one has no type: it reports that the stream is open, and its position. */
async function* framesOf(connection: Connection, options: StreamOptions): AsyncGenerator<Frame> {
  const patience = new AbortController()
  const wait = (): ReturnType<typeof setTimeout> => setTimeout(() => patience.abort(), SILENCE_MS)
  let timer = wait()
  const heard = async function* (texts: AsyncIterable<string>): AsyncGenerator<string> {
    for await (const text of texts) {
      clearTimeout(timer)
      timer = wait()
      yield text
    }
  }
  try {
    const { signal } = options
    const response = await connection.send(addressOf(connection, options), {
      headers: headersOf(connection, options),
      signal: signal === undefined ? patience.signal : AbortSignal.any([signal, patience.signal]),
    })
    if (!response.ok) throw await refusalIn(response)
    yield { type: '', cursor: options.after, data: undefined }
    for await (const { type, id, data } of blocksIn(heard(textOf(response))))
      yield { type, cursor: id, data: data === '' ? undefined : connection.parseJson(data) }
  } catch (error) {
    if (error instanceof ServiceError) throw error
    throw silence(error, { url: connection.url, timeoutMs: SILENCE_MS, isTimeout: patience.signal.aborted })
  } finally {
    clearTimeout(timer)
    patience.abort()
  }
}

function addressOf({ url, token, project }: Connection, { datasets = [], since }: StreamOptions): string {
  const path = token === undefined ? '/v1/stream' : `${areaOf({ area: 'project' }, project)}stream`
  const query = new URLSearchParams()
  if (datasets.length > 0) query.set('dataset', datasets.join(','))
  if (since !== undefined) query.set('since', typeof since === 'string' ? since : since.toISOString())
  const search = query.toString()
  return `${url}${path}${search === '' ? '' : `?${search}`}`
}

function headersOf({ token, ingestKey }: Connection, { after }: StreamOptions): Record<string, string> {
  const credential = token ?? ingestKey
  return {
    Accept: 'text/event-stream',
    'Service-Version': SERVICE_VERSION,
    ...(credential === undefined ? {} : { Authorization: `Bearer ${credential}` }),
    ...(after === undefined ? {} : { 'Last-Event-ID': after }),
  }
}
