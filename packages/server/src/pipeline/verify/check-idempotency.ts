import { LIMITS } from '@postroad/contract'
import { digestOf } from '../../domain/capture/idempotency.ts'
import { requestOf } from '../sent-by.ts'
import { reject, type IdempotencyKey } from '../types.ts'
import type { Check, Passage } from './passage.ts'

const HEADER = 'idempotency-key'
const KEY = new RegExp(`^[\\x21-\\x7e]{1,${LIMITS.idempotencyKeyCharsMax}}$`)

/**
 * Reads the key that identifies a repeat: the endpoint's own key with the body, otherwise the header Idempotency-Key. A key belongs to
 * its ingest key, endpoint or origin. With the header, a repeat must have the same path and body as the first request. An origin names
 * an item, which may have changed since it was stored. Only the commit can decide whether the event is a repeat.
 */
export const checkIdempotency: Check = (_deps, passage) => {
  const { headers } = passage.captured
  passage.idempotency = ownKey(passage)
  const key = headers[HEADER]
  if (passage.idempotency !== undefined || key === undefined) return undefined
  if (!KEY.test(key)) return reject('invalid_idempotency_key')
  passage.idempotency = keyOfHeader(passage, key)
  return undefined
}

function keyOfHeader({ receiver, body }: Passage, key: string): IdempotencyKey {
  const { origin, webhook, ingestKeyId, use, dataset } = receiver
  const credential = origin?.id ?? ingestKeyId ?? webhook?.id ?? null
  const fingerprint = origin === undefined ? digestOf([use, webhook?.id ?? null, dataset ?? null], body) : null
  return { hash: digestOf([credential, key]), fingerprint }
}

/** The body is a part of the key: an id that a sender uses twice for different events must not lose the second one. */
function ownKey({ captured, payload, keyOfItems, body, receiver }: Passage): IdempotencyKey | undefined {
  const { webhook, ingestKeyId } = receiver
  const own = webhook?.idempotency
  if (webhook === undefined || own === undefined) return undefined
  const { headers } = captured
  const key = keyOfItems ?? own.keyOf({ headers, payload, request: requestOf({ captured, receiver }) })
  if (key === undefined) return undefined
  const parts = [ingestKeyId ?? null, webhook.id, own.source, key]
  return { hash: digestOf(parts, body), fingerprint: null, id: digestOf(parts) }
}
