import { LIMITS } from '@postroad/contract'
import type { Ctx, Deps } from '../../../context.ts'
import { Refusal, refuse } from '../../../domain/refusal.ts'
import { secretPlace } from '../../secret-place.ts'
import type { Db } from '../../../platform/db.ts'
import {
  countRecords,
  deleteClaim,
  findRecord,
  keepResponse,
  lockClaims,
  putClaim,
  type Holder,
  type IdempotencyRecordRow,
} from './queries.ts'

export type { Holder } from './queries.ts'

/** The response of a request: its status, and its JSON as text. */
export type StoredResponse = { readonly status: number; readonly json: string }
/** The use of a key by one request. An earlier or a later user of the same key has another id. */
export type Claim = { readonly holder: Holder; readonly id: string }

type Asked = { readonly holder: Holder; readonly keyHash: Uint8Array; readonly fingerprint: Uint8Array }

/**
 * Claims an Idempotency-Key of the admin API, or returns the response that is stored under it. Refuses with 409 while another
 * request runs under it, 422 when it was used for a different request, and 429 when its holder has used 10,000 in 24 hours.
 */
export function claimKey(deps: Deps, asked: Asked): Promise<StoredResponse | Claim> {
  const now = deps.clock.now()
  const since = new Date(now - LIMITS.adminIdempotencyRetentionMs)
  // oxlint-disable-next-line house/verb-guards -- the change of the request writes its audit row, in its transaction
  return deps.database.transaction(async (db) => {
    await lockClaims(db, asked.holder)
    const found = await findRecord(db, asked)
    const held = found !== undefined && found.claimed_at > since ? found : undefined
    if (held !== undefined && !isAbandoned(held, now)) return storedOf(deps, { held, asked })
    if (held === undefined) await requireRoom(db, { holder: asked.holder, since })
    const id = deps.uuid()
    await putClaim(db, { ...asked, id, now: new Date(now) })
    return { holder: asked.holder, id }
  })
}

const isAbandoned = ({ status, claimed_at }: IdempotencyRecordRow, now: number): boolean =>
  status === null && claimed_at.getTime() <= now - LIMITS.adminIdempotencyRunningMs

function storedOf(deps: Deps, { held, asked }: { held: IdempotencyRecordRow; asked: Asked }): StoredResponse {
  if (!held.fingerprint.equals(asked.fingerprint)) {
    throw refuse(
      'idempotency_key_reused',
      'This Idempotency-Key was used in the last 24 hours for another path, body or credential. To repeat a request, send it unchanged. For a new request, use a new key.',
    )
  }
  if (held.status === null || held.response === null)
    throw inProgress('A request with this Idempotency-Key is still running.')
  return { status: held.status, json: deps.cipher.open(held.response, placeOf({ ...asked, id: held.id })).reveal() }
}

function inProgress(text: string): Refusal {
  return new Refusal('idempotency_in_progress', {
    text: `${text} Send it again after retry_after seconds to get its response.`,
    fields: { retry_after: 1 },
  })
}

const DAY_CAP_RETRY_SECONDS = 3_600

async function requireRoom(db: Db, at: { holder: Holder; since: Date }): Promise<void> {
  if ((await countRecords(db, at)) < LIMITS.adminIdempotencyKeysMax) return
  throw new Refusal('idempotency_keys_exhausted', { fields: { retry_after: DAY_CAP_RETRY_SECONDS } })
}

/**
 * Stores the response, sealed, in the transaction of its change. A response over 64 KiB is not stored, and the key is free again. When
 * another request has taken the key over, this one is refused, so its change is rolled back.
 */
export async function settleClaim(
  tx: Ctx,
  { claim, response }: { claim: Claim; response: StoredResponse },
): Promise<void> {
  if ((await keepOrFree(tx, { claim, response })) > 0) return
  throw inProgress(
    'This request took longer than 60 seconds, and another request with its Idempotency-Key has replaced it.',
  )
}

function keepOrFree(
  { db, cipher }: Pick<Ctx, 'db' | 'cipher'>,
  { claim, response }: { claim: Claim; response: StoredResponse },
): Promise<number> {
  const { status, json } = response
  if (Buffer.byteLength(json) > LIMITS.adminIdempotencyBodyBytesMax) return deleteClaim(db, claim)
  return keepResponse(db, { ...claim, status, response: cipher.seal(json, placeOf(claim)) })
}

/** Stores the response of a request that changed nothing, such as a refusal. */
export async function settleUnchanged(
  deps: Deps,
  { claim, response }: { claim: Claim; response: StoredResponse },
): Promise<void> {
  await keepOrFree({ db: deps.database, cipher: deps.cipher }, { claim, response })
}

/** Frees the key after a failure of the server, so that a repeat is carried out again. */
export async function freeClaim(deps: Deps, claim: Claim): Promise<void> {
  await deleteClaim(deps.database, claim)
}

const placeOf = ({ holder, id }: Claim): string =>
  secretPlace(holder.kind === 'person' ? 'personal_idempotency_records.response' : 'idempotency_records.response', id)
