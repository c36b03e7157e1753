import { createServer, type AddressInfo, type Socket } from 'node:net'
import type { TestContext } from 'node:test'

/** The part of the protocol of NATS that a publisher to JetStream needs. */

type Wanted = {
  /** The limit that the server announces. */
  readonly maxPayload: number
  /** The answer of JetStream to every message. */
  readonly answer: object
}

/** Returns the URL of the server. */
export async function aFakeNats(t: TestContext, { maxPayload, answer }: Wanted): Promise<string> {
  const sockets = new Set<Socket>()
  const said = JSON.stringify(answer)
  const info = { server_id: 'A', server_name: 'a', version: '2.10.0', proto: 1, headers: true, max_payload: maxPayload }
  const onSocket = (socket: Socket): void => {
    sockets.add(socket)
    socket.on('error', () => undefined)
    let [seen, subscription] = ['', '']
    socket.on('data', (chunk: Buffer) => {
      seen += chunk.toString('latin1')
      for (let end = seen.indexOf('\r\n'); end >= 0; end = seen.indexOf('\r\n')) {
        const [verb = '', ...words] = seen.slice(0, end).split(' ')
        const bytes = verb === 'HPUB' ? Number(words.at(-1)) + 2 : 0
        if (seen.length < end + 2 + bytes) return
        seen = seen.slice(end + 2 + bytes)
        if (verb === 'PING') socket.write('PONG\r\n')
        if (verb === 'SUB') subscription = words.at(-1) ?? ''
        if (verb === 'HPUB') socket.write(`MSG ${words[1]} ${subscription} ${said.length}\r\n${said}\r\n`)
      }
    })
    socket.write(`INFO ${JSON.stringify(info)}\r\n`)
  }
  const server = createServer(onSocket).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  t.after(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return `nats://127.0.0.1:${(server.address() as AddressInfo).port}`
}
