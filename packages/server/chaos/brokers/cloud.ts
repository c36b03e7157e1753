import { createServer, type IncomingHttpHeaders, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Broker, StoredEvent } from './process.ts'

/** Local servers that speak the protocols of cloud services, which nobody can install. */

export type Asked = {
  readonly method: string
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
}
export type Answer = { readonly status: number; readonly body: string; readonly type?: string }

export type Cloud = Broker & {
  /** All requests that the server has received. */
  readonly asked: Asked[]
  /** The answer to all further requests; undefined: the answer of the service. */
  answers: Answer | undefined
}

type Made = {
  readonly name: string
  readonly members: (at: string) => Broker['members']
  readonly answer: (asked: Asked, events: StoredEvent[]) => Answer | Promise<Answer>
}

/** The stored events survive a kill of this server, as they do in the real service. */
export async function aCloud({ name, members, answer }: Made): Promise<Cloud> {
  const events: StoredEvent[] = []
  const asked: Asked[] = []
  let server: Server | undefined
  let port = 0
  let hangs = false
  const respond = async (one: Asked): Promise<Answer> => {
    asked.push(one)
    return cloud.answers ?? answer(one, events)
  }
  const start = async (): Promise<void> => {
    hangs = false
    server = createServer((request, response) => {
      const chunks: Buffer[] = []
      request.on('data', (chunk: Buffer) => chunks.push(chunk))
      request.on('end', () => {
        if (hangs) return
        const { method = '', url = '', headers } = request
        void respond({ method, path: url, headers, body: Buffer.concat(chunks).toString() }).then((given) => {
          response.writeHead(given.status, { 'content-type': given.type ?? 'application/json' }).end(given.body)
        })
      })
    }).listen(port, '127.0.0.1')
    await new Promise((resolve) => server?.once('listening', resolve))
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a TCP server has an address of this shape
    port = (server.address() as AddressInfo).port
  }
  const kill = async (): Promise<void> => {
    const closed = new Promise((resolve) => server?.close(resolve))
    server?.closeAllConnections()
    await closed
  }
  await start()
  const cloud: Cloud = {
    name,
    members: members(`http://127.0.0.1:${port}`),
    hang: () => (hangs = true),
    kill,
    start,
    stop: kill,
    stored: () => Promise.resolve(events),
    asked,
    answers: undefined,
  }
  return cloud
}
