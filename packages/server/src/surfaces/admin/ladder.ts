import { LIMITS } from '@postroad/contract'
import { callerRefusal, projectRefusal, roleRefusal, scopeRefusal } from '../../domain/people/access.ts'
import { Refusal, refuse } from '../../domain/refusal.ts'
import { admitApiKey } from '../../resources/people/api-keys/index.ts'
import type { KeptResponse } from '../../resources/workspace/idempotency-records/index.ts'
import { findWorkspace } from '../../resources/workspace/workspaces/index.ts'
import { authenticate, NO_WORKSPACE } from './authenticate.ts'
import { claimIdempotencyKey } from './idempotency.ts'
import { callerOf, type Check, type Door, type Passage } from './passage.ts'
import { checkServiceVersion } from '../service-version.ts'

/**
 * The order is the contract's. Who calls comes before how often, so that each credential is counted by itself; how often
 * before everything that writes or looks more up. What a one-project key reaches comes before all else that is said of it: the
 * answer lists its routes. What the caller may never do comes before what a higher role or a wider
 * grant would allow, so that nobody is told to ask for what does not help. Nothing of the workspace has been looked at
 * before the rung that says that the caller may.
 */
export const LADDER: readonly Check[] = [
  checkVersion,
  checkCredential,
  checkRate,
  checkKeyAddress,
  checkProjectScope,
  checkCaller,
  checkRole,
  checkScope,
  checkSuspended,
  claimIdempotencyKey,
]

/** Climbs the ladder: throws the first refusal, or gives the answer that is kept of an equal request. */
export async function climb(door: Door, passage: Passage): Promise<KeptResponse | undefined> {
  for (const check of LADDER) {
    // oxlint-disable-next-line no-await-in-loop -- a ladder is climbed one rung at a time
    const kept = await check(door, passage)
    if (kept !== undefined) return kept
  }
  return undefined
}

function checkVersion(_door: Door, { request, reply }: Passage): void {
  checkServiceVersion(request, reply)
}

async function checkCredential(door: Door, passage: Passage): Promise<void> {
  passage.caller = await authenticate(door, passage)
}

/** A request counts once, however often its stream is looked at again. */
const counted = new WeakSet<object>()

/** Each key, person and agent by itself (contract part 8). */
function checkRate({ rates, clock }: Door, passage: Passage): void {
  if (counted.has(passage.request)) return
  counted.add(passage.request)
  if (rates.take(callerOf(passage).credential, clock.now())) return
  throw new Refusal('rate_limited', { fields: { retry_after: LIMITS.adminRequestsWindowMs / 1_000 } })
}

/** Behind the rate, because each refusal is audited. */
async function checkKeyAddress(door: Door, passage: Passage): Promise<void> {
  const { apiKey } = callerOf(passage)
  if (apiKey !== undefined) await admitApiKey(door, apiKey, { ip: passage.ip, requestId: passage.request.id })
}

function checkProjectScope(_door: Door, passage: Passage): void {
  throwIf(projectRefusal(callerOf(passage).actor, passage))
}

function checkCaller(_door: Door, passage: Passage): void {
  throwIf(callerRefusal(callerOf(passage).actor, passage.route))
}

function checkRole(_door: Door, passage: Passage): void {
  throwIf(roleRefusal(callerOf(passage).actor, passage.route))
}

function checkScope(_door: Door, passage: Passage): void {
  throwIf(scopeRefusal(callerOf(passage).actor, passage.route))
}

/** Contract part 1, suspension: what the flag of the route says. A closed workspace stands still in the same way. */
async function checkSuspended({ database }: Door, passage: Passage): Promise<void> {
  const { route } = passage
  const { workspaceId } = callerOf(passage)
  if (workspaceId === NO_WORKSPACE && route.withoutWorkspace === true) return
  const workspace = await findWorkspace(database, workspaceId)
  if (workspace === undefined) throw refuse('unauthorized')
  if (route.whileSuspended !== 'refused') return
  if (workspace.suspended_at !== null) throw refuse('workspace_suspended')
  if (workspace.closed_at !== null && route.whileClosed !== 'allowed') throw refuse('workspace_closed')
}

function throwIf(refusal: Refusal | undefined): void {
  if (refusal !== undefined) throw refusal
}
