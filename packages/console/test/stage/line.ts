import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net'

/** A connection to the server that a test can cut. */
export async function aLine(address: string): Promise<{ url: string; cut(): void; mend(): void; stop(): void }> {
  const { hostname, port } = new URL(address)
  const open = new Set<Socket>()
  let isCut = false
  const server: Server = createServer((socket) => {
    if (isCut) return void socket.destroy()
    const on = connect(Number(port), hostname)
    for (const [from, to] of [
      [socket, on],
      [on, socket],
    ] as const) {
      open.add(from)
      from.on('error', () => to.destroy())
      from.on('close', () => {
        open.delete(from)
        to.destroy()
      })
      from.pipe(to)
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const drop = (): void => {
    for (const socket of open) socket.destroy()
  }
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    cut: () => {
      isCut = true
      drop()
    },
    mend: () => {
      isCut = false
    },
    stop: () => {
      server.close()
      drop()
    },
  }
}
