import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'

/** The answer of a receiver, and its delay. */
export type Answering = () => { readonly status: number; readonly body: string; readonly afterMs: number }

export type Receiver = { readonly url: string; stop(): Promise<void> }

/** A service that receives deliveries and takes some time for each; `pass` moves the clock of the server by that time. */
export async function aReceiver(answering: Answering, pass: (ms: number) => void): Promise<Receiver> {
  const server: Server = createServer((request, response) => {
    request.resume()
    request.on('end', () => {
      const { status, body, afterMs } = answering()
      setTimeout(() => {
        pass(afterMs)
        // The date would be that of the real clock, not that of the server.
        response.sendDate = false
        response.writeHead(status, {
          'content-type': 'application/json',
          'x-request-id': request.headers['webhook-id'] ?? '',
        })
        response.end(body)
      }, afterMs)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/webhooks`,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
