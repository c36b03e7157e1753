import { LIMITS } from '@postroad/contract'
import { digestOf } from '../../domain/capture/idempotency.ts'
import { reject, type IdempotencyKey } from '../types.ts'
import type { Check, Passage } from './passage.ts'

const HEADER = 'idempotency-key'
const KEY = new RegExp(`^[\\x21-\\x7e]{1,${LIMITS.idempotencyKeyCharsMax}}$`)

/**
 * Reads the key by which a repeat is known: the one that the endpoint takes from its events, else the header
 * Idempotency-Key. Whether it is a repeat is found out at the commit, which alone knows.
 *
 * A key is one of its credential: the ingest key, or the endpoint, whose two URLs during a rotation share theirs. What a
 * repeat must share with the first request is its path and body; with an endpoint's own key nothing.
 */
export const checkIdempotency: Check = (_deps, passage) => {
  const { headers } = passage.captured
  passage.idempotency = ownKey(passage)
  const key = headers[HEADER]
  if (passage.idempotency !== undefined || key === undefined) return undefined
  if (!KEY.test(key)) return reject('invalid_idempotency_key')
  const { webhook, ingestKeyId, use, dataset } = passage.receiver
  const credential = ingestKeyId ?? webhook?.id ?? null
  const fingerprint = digestOf([use, webhook?.id ?? null, dataset ?? null], passage.body)
  passage.idempotency = { hash: digestOf([credential, key]), fingerprint }
  return undefined
}

function ownKey({
  captured: { headers },
  payload,
  receiver: { webhook, ingestKeyId },
}: Passage): IdempotencyKey | undefined {
  const own = webhook?.idempotency
  const key = own?.keyOf({ headers, payload })
  if (webhook === undefined || own === undefined || key === undefined) return undefined
  return { hash: digestOf([ingestKeyId ?? null, webhook.id, own.source, key]), fingerprint: null }
}
