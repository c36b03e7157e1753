import { LIMITS } from '@postroad/contract/plain'
import { storedView, type StoredRequest } from '../domain/capture/request-view.ts'
import type { RequestView } from '../domain/routing/event-path.ts'
import { decodeBody, type BodyReading } from '../domain/capture/body/decode-body.ts'
import { codingOf, inflate } from '../platform/inflate.ts'

/** A body as received, with its headers. */
export type StoredBody = {
  readonly body: Uint8Array | string
  readonly headers: Readonly<Record<string, string>>
  /** How its endpoint reads bodies; absent: as the contract says. */
  readonly reading?: BodyReading | undefined
  /** The rest of its request; absent: no sender sent it. */
  readonly sent?: Omit<StoredRequest, 'headers'> | undefined
}
export type StoredPayload =
  | { readonly ok: true; readonly payload: unknown; readonly text: string; readonly chars: number }
  | { readonly ok: false; readonly error: string }

/** The payload of a stored body, inflated and decoded by its headers, as the ingest path did. For threads. */
export async function readStored({ body: stored, headers, reading }: StoredBody): Promise<StoredPayload> {
  const body =
    typeof stored === 'string' ? Buffer.from(stored) : Buffer.from(stored.buffer, stored.byteOffset, stored.byteLength)
  const coding = codingOf(headers['content-encoding']) ?? 'identity'
  const content = coding === 'identity' ? body : await inflate(coding, { body, bytesMax: LIMITS.ingestBodyBytesMax })
  if (typeof content === 'string') return { ok: false, error: 'The body can no longer be inflated.' }
  const decoded = await decodeBody({
    body: content,
    contentType: headers['content-type'],
    depthMax: LIMITS.forwardedJsonDepthMax,
    reading,
  })
  return decoded.ok ? { ok: true, payload: decoded.payload, text: decoded.text, chars: decoded.text.length } : decoded
}

/** The request of a stored body, as paths read it. */
export const requestOf = ({ headers, sent }: StoredBody): RequestView | null =>
  sent === undefined ? null : storedView({ headers, ...sent })

/** The work of reading it: a compressed body can inflate to many times its size. */
export const readingWorkOf = ({ body, headers }: StoredBody): number =>
  (isCompressed(headers) ? LIMITS.inflationRatioMax : 1) * body.length

const isCompressed = (headers: StoredBody['headers']): boolean =>
  (codingOf(headers['content-encoding']) ?? 'identity') !== 'identity'

type Row = StoredRequest & {
  readonly headers: Readonly<Record<string, string>>
  readonly is_sent: boolean
  readonly body: string | null
  readonly body_bytes: Uint8Array | null
  readonly reading: BodyReading | null
}

/** A stored body for a thread. */
export const storedBodyOf = ({ headers, query, path, is_sent: isSent, reading, ...row }: Row): StoredBody => ({
  body: bodyOf(row),
  headers,
  reading: reading ?? undefined,
  sent: isSent ? { query, path } : undefined,
})

/** Bytes that are a part of a larger memory are copied, because all of it would be. */
function bodyOf({ body, body_bytes: bytes }: Pick<Row, 'body' | 'body_bytes'>): Uint8Array | string {
  if (bytes === null) return body ?? ''
  return bytes.byteLength === bytes.buffer.byteLength ? bytes : new Uint8Array(bytes)
}
