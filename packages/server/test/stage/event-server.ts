import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A server of server-sent events on a free port. */
export type EventServer = {
  readonly url: string
  /** The headers of each request, oldest first. */
  readonly requests: IncomingHttpHeaders[]
  readonly open: Set<ServerResponse>
  /** Writes to every open stream. */
  send(text: string): void
  /** Ends every open stream. */
  end(): void
  /** The next requests get this status, or a stream again. */
  answer(status: number): void
  stop(): Promise<void>
}

export async function anEventServer(): Promise<EventServer> {
  const requests: IncomingHttpHeaders[] = []
  const open = new Set<ServerResponse>()
  let status = 200
  const server = createServer((request, response) => {
    requests.push(request.headers)
    response.writeHead(status, { 'content-type': 'text/event-stream' })
    if (status !== 200) {
      response.end()
      return
    }
    response.flushHeaders()
    open.add(response)
    response.on('close', () => open.delete(response))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/events`,
    requests,
    open,
    send: (text) => {
      for (const response of open) response.write(text)
    },
    end: () => {
      for (const response of open) response.end()
    },
    answer: (next) => {
      status = next
    },
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
