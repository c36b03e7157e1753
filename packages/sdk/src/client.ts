import {
  routes,
  SERVICE_VERSION,
  type Route,
  type RouteAnswer,
  type RouteRequest,
  type Routes,
} from '@postroad/contract'
import { requestOf, type Outgoing } from './request.ts'
import { refusalIn, ServiceError } from './service-error.ts'

export { refusalIn, ServiceError } from './service-error.ts'

export type ClientOptions = {
  /** The address of the server, such as `https://hooks.example.com`. */
  readonly baseUrl: string
  /** An admin API key (`hk_…`). Absent: the requests carry only what `fetch` adds, such as a session cookie. */
  readonly token?: string
  /** The project of project routes (`prj_…`). Absent: the Default project. */
  readonly project?: string
  readonly fetch?: typeof globalThis.fetch
  /** Parses the responses; default: `JSON.parse`. Replace it for numbers with more digits than JavaScript retains. */
  readonly parseJson?: (text: string) => unknown
}

export type CallOptions = {
  readonly signal?: AbortSignal
  /** For routes that create or do something (POST): within 24 hours a repeat with the same key and request gets the first response again. */
  readonly idempotencyKey?: string
  /** For downloads of stored files: starts at this byte of the file with this ETag. Another file is refused with `file_changed`. */
  readonly rest?: { readonly from: number; readonly etag: string }
}

/** Every route of the contract as a method: `client.destinations.create({ … })`. */
export type Client = {
  readonly [Room in keyof Routes]: { readonly [Verb in keyof Routes[Room]]: Method<Routes[Room][Verb]> }
}

type Method<R> =
  Partial<RouteRequest<R>> extends RouteRequest<R>
    ? (request?: RouteRequest<R>, options?: CallOptions) => Answering<RouteAnswer<R>>
    : (request: RouteRequest<R>, options?: CallOptions) => Answering<RouteAnswer<R>>

/** Await a list for one page, or iterate it for every item of every page. Await everything else. */
type Answering<A> = A extends { next_cursor: string | null } ? Promise<A> & AsyncIterable<ItemOf<A>> : Promise<A>
type ItemOf<A> = { [Name in keyof A]: A[Name] extends readonly (infer Item)[] ? Item : never }[keyof A]

type Members = Readonly<Record<string, unknown>>
type Page = { readonly next_cursor: string | null }
type Connection = ClientOptions & { readonly send: typeof globalThis.fetch }

/** The longest time for a response, including its body. */
const TIMEOUT_MS = 30_000
/** A GET is sent again after a `Retry-After` of at most this long, and at most this many times. */
const WAIT_SECONDS_MAX = 10
const RETRIES_MAX = 2

/**
 * A client of the admin API, for browsers and Node. It throws refusals as `ServiceError`. After a 429 or 503 with a `Retry-After` of
 * up to 10 s it sends a GET again, at most twice. It never sends anything else twice.
 */
export function createClient(options: ClientOptions): Client {
  const connection: Connection = {
    ...options,
    baseUrl: options.baseUrl.replace(/\/+$/, ''),
    send: options.fetch ?? globalThis.fetch.bind(globalThis),
  }
  const rooms = Object.entries(routes).map(([room, verbs]) => {
    const methods = Object.entries<Route>(verbs).map(([verb, route]) => [verb, methodOf(connection, route)])
    return [room, Object.fromEntries(methods)]
  })
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- built from `routes`, and Client is the type of that
  return Object.fromEntries(rooms) as Client
}

function methodOf(connection: Connection, route: Route) {
  const call = (members: Members, options: CallOptions): Promise<unknown> =>
    answerTo(connection, {
      ...requestOf(route, { project: connection.project, members }),
      ...options,
      reads: readsOf(route),
    })
  if (!isList(route)) return async (members: Members = {}, options: CallOptions = {}) => call(members, options)
  return (members: Members = {}, options: CallOptions = {}) =>
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the output of a list has a next_cursor
    paged(async (cursor) => (await call(cursor === undefined ? members : { ...members, cursor }, options)) as Page)
}

type Reads = 'json' | 'text' | 'bytes'

function readsOf({ download }: Route): Reads {
  if (download === undefined) return 'json'
  return download.stored === true ? 'bytes' : 'text'
}

function isList({ output }: Route): boolean {
  return 'shape' in output && typeof output.shape === 'object' && output.shape !== null && 'next_cursor' in output.shape
}

function paged(pageAt: (cursor: string | undefined) => Promise<Page>): Promise<Page> & AsyncIterable<unknown> {
  const first = pageAt(undefined)
  async function* items(): AsyncGenerator {
    for (let page = await first; ;) {
      for (const member of Object.values(page)) if (Array.isArray(member)) yield* member
      if (page.next_cursor === null) return
      // oxlint-disable-next-line no-await-in-loop -- each page needs the cursor of the previous one
      page = await pageAt(page.next_cursor)
    }
  }
  return Object.assign(first, { [Symbol.asyncIterator]: items })
}

type Call = Outgoing & CallOptions & { readonly reads: Reads }

async function answerTo(connection: Connection, call: Call): Promise<unknown> {
  for (let retries = 0; ; retries += 1) {
    // oxlint-disable-next-line no-await-in-loop -- one try after the other
    const answer = await answered(connection, call)
    if (!(answer instanceof ServiceError)) return answer
    const waitSeconds = retries < RETRIES_MAX ? waitAfter(answer, call) : undefined
    if (waitSeconds === undefined) throw answer
    // oxlint-disable-next-line no-await-in-loop -- the wait that the server asked for
    await pause(waitSeconds * 1_000, call.signal)
  }
}

function waitAfter({ status, retryAfter }: ServiceError, call: Call): number | undefined {
  if (call.method !== 'GET' || (status !== 429 && status !== 503)) return undefined
  return retryAfter !== undefined && retryAfter <= WAIT_SECONDS_MAX ? retryAfter : undefined
}

/** The response, or the refusal. */
async function answered(connection: Connection, call: Call): Promise<unknown> {
  const { baseUrl, token, send } = connection
  const { method, path, body, signal, reads, rest } = call
  const patience = new AbortController()
  const timer = setTimeout(() => patience.abort(), TIMEOUT_MS)
  const timeout = patience.signal
  try {
    const response = await send(baseUrl + path, {
      method,
      headers: headersOf(call, token),
      ...(body === undefined ? {} : { body }),
      signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
    })
    if (!response.ok) return await refusalIn(response)
    if (rest !== undefined && response.status !== 206) return await otherFile(response)
    if (reads === 'json') return await answerIn(response, connection)
    return reads === 'bytes' ? bytesOf(response) : textOf(response)
  } catch (error) {
    throw noAnswer(error, { baseUrl, signal, timeout })
  } finally {
    // A file may take any time once its download has started.
    clearTimeout(timer)
  }
}

function headersOf({ body, idempotencyKey, reads, rest }: Call, token: string | undefined): Record<string, string> {
  const headers: Record<string, string> = {
    Accept: reads === 'json' ? 'application/json' : '*/*',
    'Service-Version': SERVICE_VERSION,
  }
  if (token !== undefined) headers['Authorization'] = `Bearer ${token}`
  if (body !== undefined) headers['Content-Type'] = 'application/json'
  if (idempotencyKey !== undefined) headers['Idempotency-Key'] = idempotencyKey
  if (rest !== undefined) Object.assign(headers, { Range: `bytes=${rest.from}-`, 'If-Range': rest.etag })
  return headers
}

async function otherFile(response: Response): Promise<ServiceError> {
  await response.body?.cancel()
  return new ServiceError('The file has changed since the first part. Download it from the start.', {
    status: response.status,
    reason: 'file_changed',
  })
}

async function* bytesOf({ body }: Response): AsyncGenerator<Uint8Array> {
  if (body === null) return
  const reader = body.getReader()
  try {
    // oxlint-disable-next-line no-await-in-loop -- one piece after the other
    for (let piece = await reader.read(); !piece.done; piece = await reader.read()) yield piece.value
  } finally {
    await reader.cancel()
  }
}

async function* textOf({ body }: Response): AsyncGenerator<string> {
  if (body === null) return
  const reader = body.pipeThrough(new TextDecoderStream()).getReader()
  try {
    // oxlint-disable-next-line no-await-in-loop -- one piece after the other
    for (let piece = await reader.read(); !piece.done; piece = await reader.read()) yield piece.value
  } finally {
    await reader.cancel()
  }
}

type Silence = { readonly baseUrl: string; readonly signal: AbortSignal | undefined; readonly timeout: AbortSignal }

/** When the caller has aborted, the call throws the reason of the caller. */
function noAnswer(error: unknown, { baseUrl, signal, timeout }: Silence): unknown {
  if (signal?.aborted === true) return error
  const why = timeout.aborted ? `did not answer within ${TIMEOUT_MS / 1_000} seconds` : 'cannot be reached'
  return new ServiceError(
    `${baseUrl} ${why}. Check that the server is running and that the address is correct.`,
    { status: 0, reason: 'unreachable' },
    { cause: error },
  )
}

async function answerIn(response: Response, { baseUrl, parseJson = JSON.parse }: Connection): Promise<unknown> {
  const text = await response.text()
  try {
    return parseJson(text)
  } catch (error) {
    const said = { status: response.status, requestId: response.headers.get('Request-Id') ?? undefined }
    return new ServiceError(
      `${baseUrl} did not answer with JSON. Check that it is the address of a Postroad server.`,
      said,
      {
        cause: error,
      },
    )
  }
}

function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = (): void => {
      clearTimeout(timer)
      reject(signal?.reason instanceof Error ? signal.reason : new Error('The call was aborted.'))
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', abort)
      resolve()
    }, ms)
    if (signal?.aborted === true) abort()
    else signal?.addEventListener('abort', abort, { once: true })
  })
}
