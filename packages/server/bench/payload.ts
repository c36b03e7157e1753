import { createHmac } from 'node:crypto'

export const PAYLOAD_BYTES = 1_024
export const SECRET = 'bench-secret-of-the-code-host'

const WORDS = ['receive', 'verify', 'route', 'store', 'deliver', 'retry', 'rotate', 'replay', 'queue', 'ledger', 'parcel', 'signal']

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

/** The bytes of a POST of this payload, signed as the code host signs when there is a secret. */
export function requestOf(at: { path: string; port: number; secret: string | undefined }, payload: string): Buffer {
  const signature = at.secret === undefined ? '' : `X-Hub-Signature-256: sha256=${createHmac('sha256', at.secret).update(payload).digest('hex')}\r\n`
  const head = `POST ${at.path} HTTP/1.1\r\nHost: 127.0.0.1:${at.port}\r\nUser-Agent: bench\r\nContent-Type: application/json\r\n`
  return Buffer.from(`${head}${signature}Content-Length: ${Buffer.byteLength(payload)}\r\n\r\n${payload}`)
}

/** The body of a delivery, as the rivals send it: an envelope of the same members and size as Postroad's. */
export function envelopeOf(sequence: number): object {
  const id = `evt_${String(sequence).padStart(26, '0')}`
  return { id, dataset: 'bench', received_at: '2026-01-15T12:00:00.000Z', data: JSON.parse(payloadOf(sequence)) as unknown }
}
