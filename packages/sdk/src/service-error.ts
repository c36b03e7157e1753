/** Everything that a server's "no" said: what a person reads is `message`, what a program acts on is `reason`. */
export class ServiceError extends Error {
  override readonly name = 'ServiceError'
  /** The HTTP status; 0 when no answer came. */
  readonly status: number
  /** The machine-readable reason; `unreachable` when no answer came. Absent where the server names none. */
  readonly reason: string | undefined
  /** Seconds to wait before trying again, where the server says so. */
  readonly retryAfter: number | undefined
  /** Finds the request in the server's log. */
  readonly requestId: string | undefined
  /** The error body as it was read, with members such as `code` or `supported_versions`. */
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

type Said = {
  readonly status: number
  readonly reason?: string | undefined
  readonly retryAfter?: number | undefined
  readonly requestId?: string | undefined
  readonly body?: Readonly<Record<string, unknown>>
}

/** The refusal in an answer that is not 2xx; a body that is not ours (a proxy's, say) leaves the status to speak. */
export async function refusalIn(response: Response): Promise<ServiceError> {
  const body = asObject(await response.json().catch(() => undefined))
  const { error, reason, retry_after: seconds } = body
  return new ServiceError(
    typeof error === 'string' ? error : `The server answered ${response.status} without saying why.`,
    {
      status: response.status,
      reason: typeof reason === 'string' ? reason : undefined,
      retryAfter: typeof seconds === 'number' ? seconds : secondsIn(response.headers.get('Retry-After')),
      requestId: response.headers.get('Request-Id') ?? undefined,
      body,
    },
  )
}

/** `Retry-After` in seconds from now: it is written as seconds or as a date. */
function secondsIn(header: string | null): number | undefined {
  if (header === null) return undefined
  if (/^\d{1,9}$/.test(header)) return Number(header)
  const at = Date.parse(header)
  return Number.isNaN(at) ? undefined : Math.max(0, Math.ceil((at - Date.now()) / 1_000))
}

function asObject(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? { ...value } : {}
}
