import { createHmac } from 'node:crypto'

export const PAYLOAD_BYTES = 1_024
export const SECRET = 'bench-secret-of-the-code-host'

const WORDS = [
  'receive',
  'verify',
  'route',
  'store',
  'deliver',
  'retry',
  'rotate',
  'replay',
  'queue',
  'ledger',
  'parcel',
  'signal',
]

/** A push event of a code host: exactly 1 KiB of JSON, different for each sequence number. */
export function payloadOf(sequence: number): string {
  const commits = [0, 1].map((index) => ({
    id: createHmac('sha1', 'commit').update(`${sequence}/${index}`).digest('hex'),
    message: `${wordAt(sequence + index)} what ${wordAt(sequence + index + 3)} left behind`,
    timestamp: '2026-01-15T12:00:00Z',
    author: { name: 'Ada Park', email: 'ada@example.com', username: 'adap' },
    added: [`src/${wordAt(sequence)}.ts`],
    removed: [],
    modified: ['README.md'],
  }))
  const event = {
    sequence,
    ref: 'refs/heads/main',
    forced: false,
    size: 2,
    repository: { id: 1_296_269, name: 'warehouse', full_name: 'acme/warehouse', private: true, stargazers_count: 80 },
    pusher: { name: 'adap', email: 'ada@example.com' },
    commits,
    note: '',
  }
  const bare = JSON.stringify(event)
  const filler = Array.from({ length: 200 }, (_unused, index) => wordAt(sequence * 7 + index * index)).join(' ')
  return JSON.stringify({ ...event, note: filler.slice(0, PAYLOAD_BYTES - bare.length) })
}

function wordAt(index: number): string {
  return WORDS[index % WORDS.length] ?? ''
}

export type RequestAt = {
  readonly path: string
  readonly port: number
  /** The secret of the code host's signature; without it the request is unsigned. */
  readonly secret: string | undefined
  /** A header Idempotency-Key that `rekey` makes unique. */
  readonly keyed?: boolean
}

/** The bytes of a POST of this payload. */
export function requestOf(at: RequestAt, payload: string): Buffer {
  const signature =
    at.secret === undefined
      ? ''
      : `X-Hub-Signature-256: sha256=${createHmac('sha256', at.secret).update(payload).digest('hex')}\r\n`
  const key = at.keyed === true ? `${KEY_HEADER}${'0'.repeat(KEY_DIGITS)}\r\n` : ''
  const head = `POST ${at.path} HTTP/1.1\r\nHost: 127.0.0.1:${at.port}\r\nUser-Agent: bench\r\nContent-Type: application/json\r\n`
  return Buffer.from(`${head}${signature}${key}Content-Length: ${Buffer.byteLength(payload)}\r\n\r\n${payload}`)
}

const KEY_HEADER = 'Idempotency-Key: '
const KEY_DIGITS = 20

/** A copy of a keyed request with this key. */
export function rekey(request: Buffer, key: number): Buffer {
  const copy = Buffer.from(request)
  copy.write(String(key).padStart(KEY_DIGITS, '0'), copy.indexOf(KEY_HEADER) + KEY_HEADER.length, 'latin1')
  return copy
}

/** The body of a delivery, as the rivals send it: an envelope with the same members and size as Postroad's. */
export function envelopeOf(sequence: number): object {
  const id = `evt_${String(sequence).padStart(26, '0')}`
  return {
    id,
    dataset: 'bench',
    received_at: '2026-01-15T12:00:00.000Z',
    data: JSON.parse(payloadOf(sequence)) as unknown,
  }
}
