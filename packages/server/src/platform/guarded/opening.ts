import type { Socket } from 'node:net'

/** Implicit TLS, or the words that come before it. */
export type Opening = 'tls' | 'postgres' | 'nats'

const NOTHING = Buffer.alloc(0)
const LINE_BYTES_MAX = 65_536
const LINE_FEED = 0x0a
const SSL_REQUEST = Buffer.from([0, 0, 0, 8, 4, 210, 22, 47])
const YES = 0x53

/** Asks the server for TLS in the way of its protocol. Returns the bytes that the driver still has to see. */
export async function beforeTls(socket: Socket, opening: Opening): Promise<Buffer> {
  switch (opening) {
    case 'tls':
      return NOTHING
    case 'postgres': {
      socket.write(SSL_REQUEST)
      const answer = await firstBytes(socket, () => true)
      if (answer.length !== 1 || answer[0] !== YES) throw notEncrypted()
      return NOTHING
    }
    case 'nats':
      return plainInfo(await firstBytes(socket, (bytes) => bytes.includes(LINE_FEED)))
  }
}

/** The driver gets an encrypted connection, so the greeting must not ask it for encryption again. */
function plainInfo(greeting: Buffer): Buffer {
  const [line = '', ...more] = greeting.toString().split('\r\n')
  const [, json] = /^INFO\s+(\{.*\})\s*$/i.exec(line) ?? []
  if (json === undefined || more.join('') !== '') throw notEncrypted()
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the braces make it an object
  const info = JSON.parse(json) as { readonly tls_required?: boolean; readonly tls_available?: boolean }
  if (info.tls_required !== true && info.tls_available !== true) throw notEncrypted()
  return Buffer.from(`INFO ${JSON.stringify({ ...info, tls_required: false, tls_available: false })}\r\n`)
}

const notEncrypted = (): Error =>
  Object.assign(new Error('the server does not offer one'), { code: 'ERR_TLS_NOT_OFFERED' })

/** The bytes until they are complete. Nothing may follow them, because an attacker could have put it there. */
function firstBytes(socket: Socket, isComplete: (piece: Buffer) => boolean): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const pieces: Buffer[] = []
    let bytes = 0
    const end = (): void => {
      socket.removeListener('data', heard)
      socket.pause()
    }
    const heard = (piece: Buffer): void => {
      pieces.push(piece)
      bytes += piece.length
      if (!isComplete(piece) && bytes <= LINE_BYTES_MAX) return
      end()
      resolve(Buffer.concat(pieces))
    }
    socket.on('data', heard)
    socket.once('close', () => reject(new Error('The connection was closed.')))
  })
}
