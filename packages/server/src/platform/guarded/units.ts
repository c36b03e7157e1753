/**
 * The units of a protocol: a message, a line, a frame. Each function looks at the first bytes of a unit only, and at no byte
 * twice, so a peer that writes in small pieces costs no more than one that writes at once.
 */
export type Units = {
  /** The kind of server that speaks the protocol, for sentences. */
  readonly server: string
  /** The size of the unit that `bytes` starts with; undefined: more bytes are needed. The first `examined` bytes had no answer. */
  readonly sizeOf: (bytes: Buffer, examined: number) => number | undefined
}

const LINE_FEED = 0x0a

const lineSize = (bytes: Buffer, examined: number): number | undefined => {
  const end = bytes.indexOf(LINE_FEED, examined)
  return end < 0 ? undefined : end + 1
}

/** A line, and the payload that the line announces after it if it starts with one of these letters. */
function withPayload(letters: string, payloadOf: (line: string) => string | undefined): Units['sizeOf'] {
  const firsts = new Set(Buffer.from(letters))
  return (bytes, examined) => {
    const size = lineSize(bytes, examined)
    if (size === undefined || !firsts.has(bytes[0] ?? 0)) return size
    const payload = payloadOf(bytes.toString('latin1', 0, Math.min(size, LINE_CHARS_MAX)).trimEnd())
    return payload === undefined ? size : size + Number(payload) + TERMINATOR_BYTES
  }
}

/** No line that announces a payload is longer. */
const LINE_CHARS_MAX = 8_192
const TERMINATOR_BYTES = 2

function prefixed(headerBytes: number, sizeIn: (header: Buffer) => number): Units['sizeOf'] {
  return (bytes) => (bytes.length < headerBytes ? undefined : Math.max(sizeIn(bytes), headerBytes))
}

/** The first byte of the protocol header, which a server sends instead of a frame if it speaks another version. */
const LETTER_A = 0x41

export const AMQP: Units = {
  server: 'an AMQP broker',
  sizeOf: prefixed(7, (header) => (header[0] === LETTER_A ? 8 : header.readUInt32BE(3) + 8)),
}
export const KAFKA: Units = { server: 'a Kafka broker', sizeOf: prefixed(4, (header) => header.readUInt32BE(0) + 4) }
export const MYSQL: Units = { server: 'MySQL', sizeOf: prefixed(4, (header) => header.readUIntLE(0, 3) + 4) }
export const POSTGRES: Units = { server: 'PostgreSQL', sizeOf: prefixed(5, (header) => header.readUInt32BE(1) + 1) }
export const NATS: Units = {
  server: 'NATS',
  sizeOf: withPayload('MmHh', (line) => /^H?MSG\s.*\s(\d+)$/i.exec(line)?.[1]),
}
export const REDIS: Units = { server: 'Redis', sizeOf: withPayload('$', (line) => /^\$(\d+)$/.exec(line)?.[1]) }
