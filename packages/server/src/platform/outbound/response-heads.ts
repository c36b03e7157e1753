import type { Socket } from 'node:net'
import { TLSSocket } from 'node:tls'
import { GatheredBytes } from '../gathered-bytes.ts'
import { Breach } from '../guarded/breach.ts'

/** The head is too long to be read. The status line was read. */
export class HeadTooLong extends Breach {
  readonly status: number

  constructor(status: number) {
    super('response_too_large', `The response headers are longer than ${HEAD_BYTES_MAX / 1_024} KiB.`)
    this.status = status
  }
}

export const HEAD_BYTES_MAX = 64 * 1_024
const INTERIM_MAX = 20
const [LF, CR] = [0x0a, 0x0d]
const STATUS_LINE = /^HTTP\/1\.\d (\d{3})/
const STATUS_LINE_BYTES = 12
const PROTOCOL = 'HTTP/'

/**
 * Shows the parser of undici whole heads only, so that small pieces cost nothing, and skips interim responses (RFC 9110, 15.2):
 * undici ends the connection at "100 Continue". A host that does not speak HTTP, and a head that is too long, end it here.
 */
class ResponseHeads {
  readonly #socket: Socket
  readonly #pass: Socket['push']
  readonly #held = new GatheredBytes()
  /** The number of held bytes in which no head ends. */
  #searched = 0
  #interim = 0
  #bytes = 0
  #isAwaited = true

  constructor(socket: Socket, bytesMax: number) {
    this.#socket = socket
    this.#pass = socket.push.bind(socket)
    socket.push = (chunk: Buffer | null, encoding) => {
      this.#bytes += chunk?.length ?? 0
      if (this.#bytes > bytesMax) return this.#end(tooManyBytes(bytesMax))
      return chunk === null || !this.#isAwaited ? this.#pass(chunk, encoding) : this.#arrived(chunk)
    }
  }

  /** A request is about to be sent. */
  expect(): void {
    this.#isAwaited = true
    this.#interim = 0
    this.#bytes = 0
  }

  #arrived(chunk: Buffer): boolean {
    this.#held.append(chunk)
    for (;;) {
      this.#skipEmptyLines()
      const { bytes } = this.#held
      if (!PROTOCOL.startsWith(bytes.toString('latin1', 0, PROTOCOL.length))) return this.#end(notHttp())
      const end = endOfHead(bytes, this.#searched)
      const status = Number(STATUS_LINE.exec(bytes.toString('latin1', 0, STATUS_LINE_BYTES))?.[1])
      if (end === undefined) {
        this.#searched = bytes.length
        return bytes.length > HEAD_BYTES_MAX ? this.#end(new HeadTooLong(status)) : true
      }
      this.#searched = 0
      if (!isInterim(status)) break
      this.#interim += 1
      if (this.#interim > INTERIM_MAX) return this.#end(tooManyInterim())
      this.#held.take(end)
      if (this.#held.length === 0) return true
    }
    this.#isAwaited = false
    return this.#pass(this.#held.take())
  }

  /** Some hosts send an empty line after a body. */
  #skipEmptyLines(): void {
    const { bytes } = this.#held
    const first = bytes.findIndex((byte) => byte !== CR && byte !== LF)
    if (first !== 0) this.#held.take(first < 0 ? bytes.length : first)
  }

  #end(error: Error): boolean {
    this.#held.take()
    this.#socket.destroy(error)
    return false
  }
}

export type { ResponseHeads }

/**
 * The heads of a connection that speaks HTTP/1.1; HTTP/2 has its own limits. `bytesMax`: of a whole response, because the
 * framing of a body can be endless too.
 */
export function headsOn(socket: Socket, bytesMax: number): ResponseHeads | undefined {
  return socket instanceof TLSSocket && socket.alpnProtocol === 'h2' ? undefined : new ResponseHeads(socket, bytesMax)
}

/** 101 is the last response of HTTP on a connection. */
const isInterim = (status: number): boolean => status >= 100 && status < 200 && status !== 101

/** The index after the first empty line; undefined: there is none. An empty line may end before `from`, not begin there. */
function endOfHead(bytes: Buffer, from: number): number | undefined {
  for (let at = bytes.indexOf(LF, Math.max(0, from - 2)); at >= 0; at = bytes.indexOf(LF, at + 1)) {
    const next = bytes[at + 1] === CR ? at + 2 : at + 1
    if (bytes[next] === LF) return next + 1
  }
  return undefined
}

const notHttp = (): Breach => new Breach('connection_reset', 'The host did not respond with HTTP.')
const tooManyInterim = (): Breach => new Breach('response_too_large', 'The host sent too many interim responses.')
const tooManyBytes = (bytesMax: number): Breach =>
  new Breach('response_too_large', `The host sent more than ${bytesMax} bytes in one response.`)
