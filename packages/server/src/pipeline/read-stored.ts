import { LIMITS } from '@postroad/contract'
import type { StoredBody, StoredPayload } from '../features.ts'
import { inflate } from '../platform/inflate.ts'
import { decodeBody } from './capture/decode-body.ts'
import { codingOf } from './verify/check-encoding.ts'

/** A stored body as its payload: inflated and decoded by its headers, as the road did when it came. */
export async function readStored({ body, headers }: StoredBody): Promise<StoredPayload> {
  const coding = codingOf(headers['content-encoding']) ?? 'identity'
  const content = coding === 'identity' ? body : await inflate(coding, { body, bytesMax: LIMITS.ingestBodyBytesMax })
  if (typeof content === 'string') return { ok: false, error: 'The body can no longer be inflated.' }
  const decoded = await decodeBody({
    body: content,
    contentType: headers['content-type'],
    depthMax: LIMITS.forwardedJsonDepthMax,
  })
  return decoded.ok ? { ok: true, payload: decoded.payload, chars: decoded.text.length } : decoded
}
