import type { OutboundHttp } from '../../platform/outbound-http.ts'

/** A request that got no answer. */
export class Unreachable extends Error {
  override readonly name = 'Unreachable'
  readonly code: string

  constructor(code: string, detail: string) {
    super(detail)
    this.code = code
  }
}

const ANSWER_BYTES_MAX = 65_536
/** The most requests of one lane in this process at the same time. */
const AT_ONCE = 32

/** `fetch` for the clients of providers, over the only client for outgoing requests: it checks addresses and limits everything. */
export function guardedFetch(
  outbound: OutboundHttp,
  { timeoutMs, lane }: { readonly timeoutMs: number; readonly lane: string },
): typeof fetch {
  return async (input, init) => {
    const headers = Object.fromEntries(new Headers(init?.headers).entries())
    const { body, signal } = init ?? {}
    const result = await outbound.request({
      url: input instanceof Request ? input.url : String(input),
      method: 'POST',
      headers,
      body: typeof body === 'string' ? body : '',
      timeoutMs,
      keptBytesMax: ANSWER_BYTES_MAX,
      maxInFlight: AT_ONCE,
      lane,
      ...(signal instanceof AbortSignal ? { signal } : {}),
    })
    if (result.kind !== 'response') throw new Unreachable(result.code, result.detail)
    if (result.truncated)
      throw new Unreachable('response_too_large', 'The response is longer than 64 KiB, or was cut off.')
    return new Response(result.status === 204 ? null : result.body, {
      status: result.status,
      headers: { ...result.headers },
    })
  }
}
