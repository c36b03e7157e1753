import { request, type Agent } from 'node:http'

export type Call = {
  readonly method: string
  readonly url: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  readonly agent: Agent
  /** The address to send from. */
  readonly from?: string
  readonly timeoutMs: number
}

export type Reply = { readonly status: number; readonly retryAfter: string | null; readonly body: string }

/** One exchange: the complete answer, or how it ended without one (`hung`: nothing within `timeoutMs`). Never rejects. */
export function exchange(call: Call): Promise<Reply | 'broken' | 'hung'> {
  return new Promise((resolve) => {
    const { method, agent, from, body = '' } = call
    const length = body === '' ? {} : { 'content-length': String(Buffer.byteLength(body)) }
    const outgoing = request(
      call.url,
      { method, agent, ...(from === undefined ? {} : { localAddress: from }), headers: { ...call.headers, ...length } },
      (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.on('error', () => resolve('broken'))
        response.on('end', () =>
          resolve({
            status: response.statusCode ?? 0,
            retryAfter: response.headers['retry-after'] ?? null,
            body: Buffer.concat(chunks).toString(),
          }),
        )
      },
    )
    const timer = setTimeout(() => {
      resolve('hung')
      outgoing.destroy()
    }, call.timeoutMs)
    outgoing.on('error', () => resolve('broken'))
    outgoing.on('close', () => {
      clearTimeout(timer)
      resolve('broken')
    })
    outgoing.end(body)
  })
}
