/** The part of the DNS wire format that a name server on loopback needs: a question, and a reply to it. */
export type Question = {
  readonly name: string
  readonly family: 4 | 6
  /** The query up to the end of the question. */ readonly bytes: Buffer
}

export type DnsReply = { readonly rcode?: number; readonly ttl?: number; readonly addresses?: readonly string[] }

export const SERVFAIL = 2
export const NXDOMAIN = 3
const [TYPE_A, TYPE_AAAA] = [1, 28]

export function questionIn(query: Buffer): Question {
  const labels: string[] = []
  let at = 12
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length))
    at += length + 1
  }
  return {
    name: labels.join('.').toLowerCase(),
    family: query.readUInt16BE(at + 1) === TYPE_A ? 4 : 6,
    bytes: query.subarray(0, at + 5),
  }
}

/** The bytes of a reply. `ttl` is in seconds and defaults to a minute. */
export function replyTo(question: Question, { rcode = 0, ttl = 60, addresses = [] }: DnsReply): Buffer {
  const head = Buffer.from(question.bytes)
  head.writeUInt16BE(0x8180 | rcode, 2)
  head.writeUInt16BE(addresses.length, 6)
  head.writeUInt32BE(0, 8)
  return Buffer.concat([head, ...addresses.map((address) => recordOf(address, ttl))])
}

/** The name of the question, its class, and an address. */
function recordOf(address: string, ttl: number): Buffer {
  const data = address.includes(':') ? sixteenBytes(address) : Buffer.from(address.split('.').map(Number))
  const record = Buffer.alloc(12)
  record.writeUInt16BE(0xc00c, 0)
  record.writeUInt16BE(data.length === 4 ? TYPE_A : TYPE_AAAA, 2)
  record.writeUInt16BE(1, 4)
  record.writeUInt32BE(ttl, 6)
  record.writeUInt16BE(data.length, 10)
  return Buffer.concat([record, data])
}

function sixteenBytes(address: string): Buffer {
  const [left = [], right = []] = address.split('::').map((side) => side.split(':').filter((group) => group !== ''))
  const groups = [...left, ...Array<string>(8 - left.length - right.length).fill('0'), ...right]
  return Buffer.from(groups.map((group) => group.padStart(4, '0')).join(''), 'hex')
}
