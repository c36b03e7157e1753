import type { RefusalReason } from './contract.ts'

/**
 * A call that did not succeed. `message` is for people, `reason` is for programs. The subclasses separate the cases that programs
 * treat differently; every other refusal, such as 400 `invalid_request`, is a plain `ServiceError`.
 */
export class ServiceError extends Error {
  override readonly name: string = 'ServiceError'
  /** The HTTP status; 0 when there was no response. */
  readonly status: number
  /** The machine-readable reason; `unreachable` when there was no response. Absent when the server sends none. */
  readonly reason: RefusalReason | undefined
  /** Seconds to wait before another attempt, if the server sends them. */
  readonly retryAfter: number | undefined
  /** The id of the request in the log of the server. */
  readonly requestId: string | undefined
  /** The parsed error body, with members such as `code` or `supported_versions`. */
  readonly body: Readonly<Record<string, unknown>>

  constructor(message: string, said: Said, options?: ErrorOptions) {
    super(message, options)
    this.status = said.status
    this.reason = said.reason
    this.retryAfter = said.retryAfter
    this.requestId = said.requestId
    this.body = said.body ?? {}
  }
}

/** 401: the token or the ingest key is missing, unknown, expired or revoked. */
export class UnauthorizedError extends ServiceError {
  override readonly name = 'UnauthorizedError'
}

/** 403: the credential is valid, but does not permit this. `reason` gives the cause. */
export class ForbiddenError extends ServiceError {
  override readonly name = 'ForbiddenError'
}

/** 404: there is nothing with this id in the workspace and project. */
export class NotFoundError extends ServiceError {
  override readonly name = 'NotFoundError'
}

/** 409: the current state does not allow it, for example because a name is taken. */
export class ConflictError extends ServiceError {
  override readonly name = 'ConflictError'
}

/** 429: too many requests, or the quota of the month is used up. `retryAfter` is the number of seconds to wait. */
export class RateLimitedError extends ServiceError {
  override readonly name = 'RateLimitedError'
}

/** There was no response: the server cannot be reached, or did not answer in time. `cause` is the error of `fetch`. */
export class UnreachableError extends ServiceError {
  override readonly name = 'UnreachableError'
}

type Said = {
  readonly status: number
  readonly reason?: RefusalReason | undefined
  readonly retryAfter?: number | undefined
  readonly requestId?: string | undefined
  readonly body?: Readonly<Record<string, unknown>>
}

const CLASSES: Readonly<Record<number, typeof ServiceError>> = {
  0: UnreachableError,
  401: UnauthorizedError,
  403: ForbiddenError,
  404: NotFoundError,
  409: ConflictError,
  429: RateLimitedError,
}

/** The error of a status, in its class. */
export function serviceError(message: string, said: Said, options?: ErrorOptions): ServiceError {
  const Class = CLASSES[said.status] ?? ServiceError
  return new Class(message, said, options)
}

/** The refusal in a response that is not 2xx. A body that is not Postroad's, such as a proxy's, leaves only the status. */
export async function refusalIn(response: Response): Promise<ServiceError> {
  const body = asObject(await response.json().catch(() => undefined))
  const { error, reason, retry_after: seconds } = body
  return serviceError(typeof error === 'string' ? error : `The server returned ${response.status} without a reason.`, {
    status: response.status,
    reason: typeof reason === 'string' ? reason : undefined,
    retryAfter: typeof seconds === 'number' ? seconds : secondsIn(response.headers.get('Retry-After')),
    requestId: response.headers.get('Request-Id') ?? undefined,
    body,
  })
}

/** `Retry-After`, which is seconds or a date, in seconds from now. */
function secondsIn(header: string | null): number | undefined {
  if (header === null) return undefined
  if (/^\d{1,9}$/.test(header)) return Number(header)
  const at = Date.parse(header)
  return Number.isNaN(at) ? undefined : Math.max(0, Math.ceil((at - Date.now()) / 1_000))
}

function asObject(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? { ...value } : {}
}
