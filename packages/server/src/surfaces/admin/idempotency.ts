import { createHash } from 'node:crypto'
import type { Ctx } from '../../context.ts'
import { errorBody, Refusal, refuse } from '../../domain/refusal.ts'
import { claimKey, freeClaim, settleClaim, settleRefused, type Claim, type Holder, type KeptResponse } from '../../resources/idempotency-records/index.ts'
import { inTransaction } from '../../transaction.ts'
import type { Caller } from './authenticate.ts'
import { callerOf, type Door, type Passage } from './passage.ts'

/** Printable ASCII without spaces. */
const KEY = /^[!-~]{1,255}$/

/** The last rung. The header counts on POST alone; a request without it costs nothing here. */
export async function claimIdempotencyKey(door: Door, passage: Passage): Promise<KeptResponse | undefined> {
  const { request, route } = passage
  const key = request.headers['idempotency-key']
  if (route.method !== 'POST' || key === undefined) return undefined
  if (route.refusesIdempotencyKey === true) throw refuse('idempotency_key_refused')
  if (typeof key !== 'string' || !KEY.test(key)) throw refuse('invalid_idempotency_key')
  const caller = callerOf(passage)
  const body = typeof request.body === 'string' ? request.body : ''
  const keyHash = createHash('sha256').update(key).digest()
  const fingerprint = createHash('sha256').update(JSON.stringify([caller.credential, request.url, body])).digest()
  const holder = holderOf(caller, passage)
  const database = holder.kind === 'workspace' ? door.database.forWorkspace(holder.id) : door.database.forSystem
  const claimed = await claimKey({ ...door, database }, { holder, keyHash, fingerprint })
  if ('json' in claimed) return claimed
  passage.claim = claimed
  return undefined
}

/**
 * A key belongs to the workspace that the request is for. What is about the workspaces of a person may move the session to another one,
 * where a repeat would not find it: such a key is the person's.
 */
function holderOf({ actor, workspaceId }: Caller, { route }: Passage): Holder {
  if (route.withoutWorkspace === true && actor.kind === 'person') return { kind: 'person', id: actor.userId }
  return { kind: 'workspace', id: workspaceId }
}

/** Behind the audit rows: nobody who asks with the same key waits for a claim that itself waits for the end of a chain. */
const BEHIND_ALL = '~'

/**
 * Does the work of a request that holds a key. The change and its kept answer are one commit, so a repeat never does the
 * work again; a refusal is kept as well, a failure of ours frees the key.
 */
export async function onceUnder(ctx: Ctx, claim: Claim, work: (tx: Ctx) => Promise<KeptResponse>): Promise<KeptResponse> {
  try {
    return await inTransaction(ctx, async (tx) => {
      const response = await work(tx)
      tx.beforeCommit(BEHIND_ALL, () => settleClaim(tx, { claim, response }))
      return response
    })
  } catch (error) {
    if (error instanceof Refusal && error.status < 500) await settleRefused(ctx, { claim, response: { status: error.status, json: JSON.stringify(errorBody(error)) } })
    else await freeClaim(ctx, claim).catch((cause: unknown) => ctx.log.debug('idempotency_key.not_freed', { cause }))
    throw error
  }
}
