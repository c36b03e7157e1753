import { connect, type Socket } from 'node:net'

const LENGTH = /content-length: *(\d+)/i
const EMPTY = Buffer.alloc(0)

/** Cuts a stream into HTTP/1.1 messages with a Content-Length. The load generator and the sink need nothing more. */
export function createCutter(heard: (head: string, body: Buffer) => void): (chunk: Buffer) => void {
  let kept: Buffer = EMPTY
  return (chunk) => {
    let rest = kept.length === 0 ? chunk : Buffer.concat([kept, chunk])
    for (;;) {
      const end = rest.indexOf('\r\n\r\n')
      if (end < 0) break
      const head = rest.toString('latin1', 0, end)
      const length = Number(LENGTH.exec(head)?.[1] ?? 0)
      const next = end + 4 + length
      if (rest.length < next) break
      heard(head, rest.subarray(end + 4, next))
      rest = rest.subarray(next)
    }
    kept = rest.length === 0 ? EMPTY : rest
  }
}

/** A keep-alive connection that carries one request at a time. */
export type Wire = { send(request: Buffer): void; close(): void }

/** Opens a wire to a local port; `answered` is called with the status of each answer. */
export function openWire(port: number, answered: (status: number) => void): Promise<Wire> {
  return new Promise((resolve, reject) => {
    const socket: Socket = connect({ port, host: '127.0.0.1', noDelay: true }, () => {
      resolve({ send: (request) => socket.write(request), close: () => socket.destroy() })
    })
    socket.on('error', reject)
    socket.on(
      'data',
      createCutter((head) => answered(Number(head.slice(9, 12)))),
    )
  })
}
