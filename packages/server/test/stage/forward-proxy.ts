import { once } from 'node:events'
import { createServer, request as requestHttp } from 'node:http'
import { connect, type AddressInfo, type Socket } from 'node:net'

/** A forward proxy of the test, for CONNECT and for plain requests. */
export type ForwardProxy = {
  readonly url: string
  readonly host: string
  /** The authorities of CONNECT, and the URLs of plain requests. */
  readonly asked: string[]
  stop(): void
}

/** `port`: where it goes, whatever it is asked for. `login`: the only username and password that it accepts. */
export async function aForwardProxy({ port, login }: { port: number; login?: string }): Promise<ForwardProxy> {
  const asked: string[] = []
  const sockets = new Set<Socket>()
  const wanted = login === undefined ? undefined : `Basic ${Buffer.from(login).toString('base64')}`
  const server = createServer((request, response) => {
    asked.push(request.url ?? '')
    if (request.headers['proxy-authorization'] !== wanted) return void response.writeHead(407).end()
    const { pathname, search } = new URL(request.url ?? '')
    const { method, headers } = request
    const sent = requestHttp({ port, host: '127.0.0.1', method, path: pathname + search, headers }, (answer) =>
      answer.pipe(response.writeHead(answer.statusCode ?? 502, answer.headers)),
    )
    sent.on('error', () => response.destroy())
    request.pipe(sent)
  })
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket))
  })
  server.on('connect', (request, client: Socket) => {
    asked.push(request.url ?? '')
    if (request.headers['proxy-authorization'] !== wanted)
      return void client.end('HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n')
    const target = connect(port, '127.0.0.1', () => {
      client.write('HTTP/1.1 200 OK\r\n\r\n')
      client.pipe(target).pipe(client)
    })
    target.on('error', () => client.destroy()).on('close', () => client.destroy())
    client.on('close', () => target.destroy())
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    url: `http://${login === undefined ? '' : `${login}@`}${host}`,
    host,
    asked,
    stop: () => {
      server.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}
