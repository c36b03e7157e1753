import { connect } from 'node:net'

/** An answer as it came over the connection. */
export type RawAnswer = {
  readonly status: number
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** Sends these bytes to a server, and reads its answer to the end. The request must ask for `Connection: close`. */
export async function sendBytes(url: string, request: Buffer): Promise<RawAnswer> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  socket.write(request)
  const pieces: Buffer[] = []
  for await (const piece of socket) pieces.push(piece as Buffer)
  return answerOf(Buffer.concat(pieces).toString('utf8'))
}

function answerOf(text: string): RawAnswer {
  const [head = '', ...rest] = text.split('\r\n\r\n')
  const [first = '', ...lines] = head.split('\r\n')
  const headers = Object.fromEntries(
    lines.map((line) => {
      const at = line.indexOf(':')
      return [line.slice(0, at).toLowerCase(), line.slice(at + 1).trim()]
    }),
  )
  return { status: Number(first.split(' ')[1]), headers, body: rest.join('\r\n\r\n') }
}

type Message = {
  readonly method?: string
  /** With the query string. */
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array
}

/** The bytes of a request. Text is sent as UTF-8. */
export function requestBytes({ method = 'POST', path, headers = {}, body = '' }: Message): Buffer {
  const bytes = Buffer.from(body)
  const length = method === 'GET' || method === 'HEAD' ? {} : { 'Content-Length': String(bytes.length) }
  const all = { Host: 'hooks.example.com', Connection: 'close', ...length, ...headers }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  return Buffer.concat([Buffer.from(`${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n`, 'latin1'), bytes])
}
