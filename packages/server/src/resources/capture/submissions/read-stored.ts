import { LIMITS } from '@postroad/contract'
import { decodeBody } from '../../../domain/capture/body/decode-body.ts'
import { codingOf, inflate } from '../../../platform/inflate.ts'

/** A body as received, with its headers. */
type StoredBody = { readonly body: Buffer; readonly headers: Readonly<Record<string, string>> }
export type StoredPayload =
  | { readonly ok: true; readonly payload: unknown; readonly text: string; readonly chars: number }
  | { readonly ok: false; readonly error: string }

/** The payload of a stored body, inflated and decoded by its headers, as the ingest path did. */
export async function readStored({ body, headers }: StoredBody): Promise<StoredPayload> {
  const coding = codingOf(headers['content-encoding']) ?? 'identity'
  const content = coding === 'identity' ? body : await inflate(coding, { body, bytesMax: LIMITS.ingestBodyBytesMax })
  if (typeof content === 'string') return { ok: false, error: 'The body can no longer be inflated.' }
  const decoded = await decodeBody({
    body: content,
    contentType: headers['content-type'],
    depthMax: LIMITS.forwardedJsonDepthMax,
  })
  return decoded.ok ? { ok: true, payload: decoded.payload, text: decoded.text, chars: decoded.text.length } : decoded
}
