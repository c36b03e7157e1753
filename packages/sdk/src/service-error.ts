/** A refusal of the server. `message` is for people, `reason` is for programs. */
export class ServiceError extends Error {
  override readonly name = 'ServiceError'
  /** The HTTP status; 0 when there was no response. */
  readonly status: number
  /** The machine-readable reason; `unreachable` when there was no response. Absent when the server gives none. */
  readonly reason: string | undefined
  /** Seconds to wait before another try, if the server gives them. */
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

type Said = {
  readonly status: number
  readonly reason?: string | undefined
  readonly retryAfter?: number | undefined
  readonly requestId?: string | undefined
  readonly body?: Readonly<Record<string, unknown>>
}

/** The refusal in a response that is not 2xx. A body that is not Postroad's, such as a proxy's, leaves only the status. */
export async function refusalIn(response: Response): Promise<ServiceError> {
  const body = asObject(await response.json().catch(() => undefined))
  const { error, reason, retry_after: seconds } = body
  return new ServiceError(
    typeof error === 'string' ? error : `The server answered ${response.status} without a reason.`,
    {
      status: response.status,
      reason: typeof reason === 'string' ? reason : undefined,
      retryAfter: typeof seconds === 'number' ? seconds : secondsIn(response.headers.get('Retry-After')),
      requestId: response.headers.get('Request-Id') ?? undefined,
      body,
    },
  )
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
