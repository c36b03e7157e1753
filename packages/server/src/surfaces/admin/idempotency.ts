import { createHash } from 'node:crypto'
import { encodeId } from '@postroad/contract'
import type { Ctx } from '../../context.ts'
import { errorBody, Refusal, refuse } from '../../domain/refusal.ts'
import {
  claimKey,
  freeClaim,
  settleClaim,
  settleUnchanged,
  type Claim,
  type Holder,
  type StoredResponse,
} from '../../resources/workspace/idempotency-records/index.ts'
import { findDefaultProject } from '../../resources/workspace/projects/index.ts'
import { inTransaction } from '../../transaction.ts'
import { readIdempotencyKey } from '../idempotency-key.ts'
import type { Caller } from './authenticate.ts'
import { callerOf, type Door, type Passage } from './passage.ts'

/** The last rung. The header counts only on POST. A request without it costs nothing here. */
export async function claimIdempotencyKey(door: Door, passage: Passage): Promise<StoredResponse | undefined> {
  const { request, route } = passage
  if (route.refusesIdempotencyKey === true && request.headers['idempotency-key'] !== undefined)
    throw refuse('idempotency_key_refused')
  const key = readIdempotencyKey(request)
  if (key === undefined) return undefined
  const caller = callerOf(passage)
  const body = typeof request.body === 'string' ? request.body : ''
  const keyHash = createHash('sha256').update(key).digest()
  const fingerprint = createHash('sha256')
    .update(JSON.stringify([caller.credential, await wholeUrl(door, passage), body]))
    .digest()
  const holder = holderOf(caller, passage)
  const database = holder.kind === 'workspace' ? door.database.forWorkspace(holder.id) : door.database.forSystem
  const claimed = await claimKey({ ...door, database }, { holder, keyHash, fingerprint })
  if ('json' in claimed) return claimed
  passage.claim = claimed
  return undefined
}

/** An alias of the Default project is the same request as its full path, and so is a path with a slash at its end. */
async function wholeUrl({ database }: Door, passage: Passage): Promise<string> {
  const { request, route, project } = passage
  const [path = '', ...query] = request.url.split('?')
  const url = [path.replace(/\/+$/, ''), ...query].join('?')
  if (route.area !== 'project' || project.kind !== 'default') return url
  const { workspaceId } = callerOf(passage)
  const found = await findDefaultProject(database.forWorkspace(workspaceId), workspaceId)
  if (found === undefined) return url
  return url.replace('/admin/api/', `/admin/api/projects/${encodeId('project', found.id)}/`)
}

/**
 * A key belongs to the workspace of the request. A route about the workspaces of a person may move the session to
 * another one, where a repeat would not find the key. There the key belongs to the person.
 */
function holderOf({ actor, workspaceId }: Caller, { route }: Passage): Holder {
  if (route.withoutWorkspace === true && actor.kind === 'person') return { kind: 'person', id: actor.userId }
  return { kind: 'workspace', id: workspaceId }
}

/**
 * Sorts after the audit rows. Otherwise a request with the same key could wait for a claim that itself waits for the
 * end of a chain.
 */
const BEHIND_ALL = '~'

/**
 * Does the work of a request that has claimed a key. The change and its stored response are one commit, so a repeat
 * never does the work again. A refusal is stored too. A failure of the server frees the key.
 */
export function onceUnder(ctx: Ctx, claim: Claim, work: Work): Promise<StoredResponse> {
  return settled(ctx, claim, () =>
    inTransaction(ctx, async (tx) => {
      const response = await work(tx)
      tx.beforeCommit(BEHIND_ALL, () => settleClaim(tx, { claim, response }))
      return response
    }),
  )
}

/**
 * The same for a request that changes nothing, or waits for another system. It may be slow, so it works outside of a
 * transaction, which would have a connection of the pool all the time. A process that dies between the work and the stored
 * answer leaves the key to the next request, which does the work again.
 */
export function slowUnder(ctx: Ctx, claim: Claim, work: Work): Promise<StoredResponse> {
  return settled(ctx, claim, async () => {
    const response = await work(ctx)
    await settleUnchanged(ctx, { claim, response })
    return response
  })
}

type Work = (to: Ctx) => Promise<StoredResponse>

async function settled(ctx: Ctx, claim: Claim, run: () => Promise<StoredResponse>): Promise<StoredResponse> {
  try {
    return await run()
  } catch (error) {
    if (error instanceof Refusal && error.status < 500)
      await settleUnchanged(ctx, { claim, response: { status: error.status, json: JSON.stringify(errorBody(error)) } })
    else await freeClaim(ctx, claim).catch((cause: unknown) => ctx.log.debug('idempotency_key.not_freed', { cause }))
    throw error
  }
}
