import type { CallOptions } from './call.ts'
import { SERVICE_VERSION } from './contract.ts'
import type { Outgoing } from './request.ts'
import { isUncertain, pause, waitMsAfter } from './retry.ts'
import type { RouteShape } from './route-shape.ts'
import { refusalIn, ServiceError, serviceError } from './service-error.ts'

/** The settings of a client, with their defaults. */
export type Connection = {
  readonly url: string
  readonly token: string | undefined
  readonly ingestKey: string | undefined
  readonly project: string | undefined
  readonly timeoutMs: number
  readonly maxRetries: number
  readonly send: typeof globalThis.fetch
  readonly parseJson: (text: string) => unknown
}

export type Call = Outgoing &
  CallOptions & {
    readonly reads: RouteShape['reads']
    readonly credential: string | undefined
    /** Endpoints can answer in another form, unless a request prefers that of the contract. */
    readonly prefersContract?: true
    /** The request may be sent again even if an earlier attempt took effect. */
    readonly canRepeat: boolean
    /** The client created the idempotency key, so it may send the request without it. */
    readonly ownKey?: boolean
    /** The response to a deletion whose own response was lost, so that its repetition finds nothing. */
    readonly whenGone?: ((notFound: ServiceError) => Promise<unknown>) | undefined
  }

/** The response to a call, after as many attempts as the settings allow. */
export async function answerTo(connection: Connection, asked: Call): Promise<unknown> {
  const { maxRetries = connection.maxRetries, signal } = asked
  let call = asked
  let maybeDone = false
  for (let retries = 0; ; retries += 1) {
    // oxlint-disable-next-line no-await-in-loop -- one attempt after the other
    const answer = await answered(connection, call)
    if (!(answer instanceof ServiceError)) return answer
    if (answer.reason === 'idempotency_keys_exhausted' && call.ownKey === true) {
      // The server did nothing: it stores no more keys today, and the caller did not ask for a key.
      call = { ...call, idempotencyKey: undefined, ownKey: false, canRepeat: false }
      continue
    }
    if (maybeDone && answer.reason === 'not_found' && call.whenGone !== undefined) return call.whenGone(answer)
    maybeDone ||= isUncertain(answer)
    const waitMs = retries < maxRetries ? waitMsAfter(answer, { retries, canRepeat: call.canRepeat }) : undefined
    if (waitMs === undefined) throw answer
    // oxlint-disable-next-line no-await-in-loop -- the wait before the next attempt
    await pause(waitMs, signal)
  }
}

/** A key for `Idempotency-Key`. Not `randomUUID`, which pages without TLS do not have. */
export function newIdempotencyKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  return `sdk_${Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')}`
}

/** The response of one attempt, or the refusal. */
async function answered(connection: Connection, call: Call): Promise<unknown> {
  const { url, send } = connection
  const { method, path, body, signal, timeoutMs = connection.timeoutMs } = call
  const patience = new AbortController()
  const timer = setTimeout(() => patience.abort(), timeoutMs)
  const timeout = patience.signal
  try {
    const response = await send(/^https?:/.test(path) ? path : url + path, {
      method,
      headers: headersOf(call),
      ...(body === undefined ? {} : { body }),
      signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
    })
    return await contentOf(response, call, connection)
  } catch (error) {
    // When the caller has aborted, the call throws the reason of the caller.
    if (error instanceof ServiceError || signal?.aborted === true) throw error
    return silence(error, { url, timeoutMs, isTimeout: timeout.aborted })
  } finally {
    // A download can take any time once it has started.
    clearTimeout(timer)
  }
}

function contentOf(response: Response, { reads, rest }: Call, connection: Connection): unknown {
  if (!response.ok) return refusalIn(response)
  if (rest !== undefined && response.status !== 206) return otherFile(response)
  if (reads === 'json') return answerIn(response, connection)
  return reads === 'bytes' ? bytesOf(response) : textOf(response)
}

function headersOf({ body, credential, idempotencyKey, prefersContract, reads, rest }: Call): Record<string, string> {
  const headers: Record<string, string> = {
    Accept: reads === 'json' ? 'application/json' : '*/*',
    'Service-Version': SERVICE_VERSION,
  }
  if (credential !== undefined) headers['Authorization'] = `Bearer ${credential}`
  if (body !== undefined) headers['Content-Type'] = 'application/json'
  if (idempotencyKey !== undefined) headers['Idempotency-Key'] = idempotencyKey
  if (prefersContract === true) headers['Prefer'] = 'return=representation'
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

/** The bytes of a body as they arrive. A reader that stops early ends the download. */
export async function* bytesOf({ body }: Pick<Response, 'body'>): AsyncGenerator<Uint8Array> {
  if (body === null) return
  const reader = body.getReader()
  try {
    // oxlint-disable-next-line no-await-in-loop -- one piece after the other
    for (let piece = await reader.read(); !piece.done; piece = await reader.read()) yield piece.value
  } finally {
    await reader.cancel()
  }
}

/** The text of a body as it arrives. A character of several bytes is never divided. */
export async function* textOf(response: Pick<Response, 'body'>): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  for await (const bytes of bytesOf(response)) yield decoder.decode(bytes, { stream: true })
  const rest = decoder.decode()
  if (rest !== '') yield rest
}

type Silence = { readonly url: string; readonly timeoutMs: number; readonly isTimeout: boolean }

/** The error for a request that got no response. */
export function silence(cause: unknown, { url, timeoutMs, isTimeout }: Silence): ServiceError {
  const why = isTimeout ? `did not respond within ${timeoutMs / 1_000} seconds` : 'cannot be reached'
  return serviceError(
    `${url} ${why}. Check that the server is running and that the address is correct.`,
    { status: 0, reason: 'unreachable' },
    { cause },
  )
}

async function answerIn(response: Response, { url, parseJson }: Connection): Promise<unknown> {
  const text = await response.text()
  try {
    return parseJson(text)
  } catch (cause) {
    throw new ServiceError(
      `${url} did not respond with JSON. Check that it is the address of a Postroad server.`,
      { status: response.status, requestId: response.headers.get('Request-Id') ?? undefined },
      { cause },
    )
  }
}
