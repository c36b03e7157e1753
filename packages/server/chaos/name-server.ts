import { createSocket } from 'node:dgram'

/** `silent`: it is asked and never answers, as a name server that hangs. `unknown`: there is no such name. */
export type NameConduct = 'answers' | 'silent' | 'unknown'

export type NameServer = {
  /** As a resolver wants it: `address:port`. */
  readonly address: string
  /** What it says of this name from now on. Of a name that nobody spoke of it says 127.0.0.1. */
  conduct(name: string, conduct: NameConduct): void
  stop(): Promise<void>
}

const NXDOMAIN = 3
const TYPE_A = 1

/** A name server on loopback: each name is 127.0.0.1, for no time at all, so that whoever wants to may ask again. */
export async function openNameServer(): Promise<NameServer> {
  const conducts = new Map<string, NameConduct>()
  const socket = createSocket('udp4')
  socket.on('message', (query, from) => {
    const { name, end } = questionIn(query)
    const conduct = conducts.get(name) ?? 'answers'
    if (conduct === 'silent') return
    const hasAddress = conduct === 'answers' && query.readUInt16BE(end) === TYPE_A
    socket.send(replyTo(query.subarray(0, end + 4), { code: conduct === 'unknown' ? NXDOMAIN : 0, hasAddress }), from.port, from.address)
  })
  await new Promise<void>((resolve) => {
    socket.bind(0, '127.0.0.1', resolve)
  })
  return {
    address: `127.0.0.1:${socket.address().port}`,
    conduct: (name, conduct) => conducts.set(name, conduct),
    stop: () =>
      new Promise((resolve) => {
        socket.close(resolve)
      }),
  }
}

/** The name that is asked for, and where it ends in the query. */
function questionIn(query: Buffer): { readonly name: string; readonly end: number } {
  const labels: string[] = []
  let at = 12
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length))
    at += length + 1
  }
  return { name: labels.join('.').toLowerCase(), end: at + 1 }
}

function replyTo(question: Buffer, { code, hasAddress }: { readonly code: number; readonly hasAddress: boolean }): Buffer {
  const head = Buffer.from(question)
  head.writeUInt16BE(0x8180 | code, 2)
  head.writeUInt16BE(hasAddress ? 1 : 0, 6)
  head.writeUInt32BE(0, 8)
  // The name of the question; A, IN, a TTL of 0, four bytes.
  const record = Buffer.from([0xc0, 0x0c, 0, TYPE_A, 0, 1, 0, 0, 0, 0, 0, 4, 127, 0, 0, 1])
  return hasAddress ? Buffer.concat([head, record]) : head
}
