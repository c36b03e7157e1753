import { LIMITS, type Reason } from '@postroad/contract'
import { callerRefusal, operatorRefusal, roleRefusal, scopeRefusal } from '../../domain/people/access.ts'
import { projectRefusal } from '../../domain/people/project-access.ts'
import { parseJson } from '../../domain/json/json-text.ts'
import { Refusal, refuse } from '../../domain/refusal.ts'
import { limitsOf } from '../../domain/workspace/plan.ts'
import { isOperator } from '../../resources/operate/operators/index.ts'
import { claimRefusal } from '../../resources/people/agent-accounts/index.ts'
import { admitApiKey } from '../../resources/people/api-keys/index.ts'
import { noteCall, noteRefusal } from '../../resources/people/connected-agents/index.ts'
import type { StoredResponse } from '../../resources/workspace/idempotency-records/index.ts'
import { admitFrom } from '../../resources/workspace/network/index.ts'
import { findWorkspace, suspendedRefusal } from '../../resources/workspace/workspaces/index.ts'
import { authenticate, authenticateBearer, NO_WORKSPACE } from './authenticate.ts'
import { claimIdempotencyKey } from './idempotency.ts'
import { callerOf, type Check, type Door, type Passage } from './passage.ts'
import { admitWork } from '../admit-work.ts'
import { checkServiceVersion } from '../service-version.ts'

/**
 * The checks that need no route. The network access of the workspace is the only thing that Postroad reads before it knows that the
 * caller is allowed.
 */
export const ENTRANCE: readonly Check[] = [
  checkVersion,
  checkCredential,
  // After the credential, so that each one is counted separately. Before everything that writes or reads more.
  checkRate,
  checkKeyAddress,
  checkNetwork,
]

/** The checks of a route. A surface whose callers passed the entrance runs these for each route that it calls. */
export const OF_ROUTE: readonly Check[] = [
  // Before the other refusals, because this one lists the routes of the key.
  checkProjectScope,
  // Before the general refusal, because a person can change the result of this one.
  checkClaimed,
  // No grant can change the result of these two. They come before the role and the scope, so that nobody asks for a useless grant.
  checkCaller,
  checkOperator,
  checkRole,
  checkScope,
  checkSuspended,
  // With the plan that the previous rung read, and before anything is done.
  checkWork,
  claimIdempotencyKey,
]

/** The checks whose result the person who connected an agent can change. */
export const OF_GRANT: readonly Check[] = [checkScope]

/** The order is the contract's. */
export const LADDER: readonly Check[] = [...ENTRANCE, ...OF_ROUTE]

/** Runs the checks: throws the first refusal, or returns the stored response of an equal request. */
export async function climb(
  door: Door,
  passage: Passage,
  checks: readonly Check[] = LADDER,
): Promise<StoredResponse | undefined> {
  try {
    for (const check of checks) {
      // oxlint-disable-next-line no-await-in-loop -- a ladder is climbed one rung at a time
      const earlier = await check(door, passage)
      if (earlier !== undefined) return earlier
    }
    await noteAgent(door, passage)
    return undefined
  } catch (error) {
    if (error instanceof Refusal) await noteAgent(door, passage, error)
    throw error
  }
}

const REFUSED_TO_AGENTS: ReadonlySet<Reason> = new Set([
  'agent_scope_insufficient',
  'agent_not_permitted',
  'insufficient_role',
])

/** Stores the last call of an agent, or the last one that it may not make, for the person who connected it. */
async function noteAgent(door: Door, { caller, call }: Passage, refusal?: Refusal): Promise<void> {
  if (caller?.actor.kind !== 'agent' || call === undefined) return
  const of = { workspaceId: caller.workspaceId, agentId: caller.actor.agentId, call }
  if (refusal === undefined) await noteCall(door, of)
  else if (REFUSED_TO_AGENTS.has(refusal.reason))
    await noteRefusal(door, { ...of, reason: refusal.reason, scope: refusal.fields.required_scope ?? null })
}

function checkVersion(_door: Door, { request, reply }: Passage): void {
  checkServiceVersion(request, reply)
}

async function checkCredential(door: Door, passage: Passage): Promise<void> {
  passage.caller = await (passage.bearerOnly === true
    ? authenticateBearer(door, passage.request.headers.authorization)
    : authenticate(door, passage))
}

/** A request counts once, even if its stream is checked again. */
const counted = new WeakSet<object>()

/** Counts each key, person and agent separately (contract part 8). */
function checkRate({ rates, clock }: Door, passage: Passage): void {
  if (counted.has(passage.request)) return
  counted.add(passage.request)
  const { credential } = callerOf(passage)
  const now = clock.now()
  for (let count = passage.counts ?? 1; count > 0; count -= 1)
    if (!rates.take(credential, now))
      throw new Refusal('rate_limited', { fields: { retry_after: LIMITS.adminRequestsWindowMs / 1_000 } })
}

/** Comes after the rate, because each refusal writes an audit row. */
async function checkKeyAddress(door: Door, passage: Passage): Promise<void> {
  const { apiKey } = callerOf(passage)
  if (apiKey !== undefined) await admitApiKey(door, apiKey, { ip: passage.ip, requestId: passage.request.id })
}

/**
 * The networks from which the workspace may be used. Routes about a person's workspaces, or about the installation,
 * answer from anywhere: a person who is locked out of one workspace continues in another, and an operator opens it
 * again.
 */
async function checkNetwork(door: Door, passage: Passage): Promise<void> {
  if (passage.route.withoutWorkspace === true) return
  const { actor, workspaceId, credential } = callerOf(passage)
  await admitFrom(door, { actor, workspaceId, credential, ip: passage.ip, requestId: passage.request.id })
}

function checkProjectScope(_door: Door, passage: Passage): void {
  throwIf(projectRefusal(callerOf(passage).actor, passage))
}

/** Contract part 1: an account that an agent registered may do some things only after a person has claimed it. */
async function checkClaimed(door: Door, passage: Passage): Promise<void> {
  const { actor, workspaceId } = callerOf(passage)
  if (passage.route.afterClaim === true && actor.kind === 'api_key') throwIf(await claimRefusal(door, workspaceId))
}

function checkCaller(_door: Door, passage: Passage): void {
  throwIf(callerRefusal(callerOf(passage).actor, passage.route))
}

/** The check runs for each request: the proven address of the person decides, whatever their role is. */
async function checkOperator(door: Door, passage: Passage): Promise<void> {
  if (passage.route.operator !== true) return
  const { actor } = callerOf(passage)
  if (actor.kind !== 'person' || !(await isOperator({ ...door, db: door.database.forSystem }, actor.userId)))
    throw operatorRefusal()
}

function checkRole(_door: Door, passage: Passage): void {
  throwIf(roleRefusal(callerOf(passage).actor, passage.route))
}

function checkScope(_door: Door, passage: Passage): void {
  throwIf(scopeRefusal(callerOf(passage).actor, passage.route))
}

/** Contract part 1, suspension: the flag of the route decides. A closed workspace is refused in the same way. */
async function checkSuspended({ database, plans }: Door, passage: Passage): Promise<void> {
  const { route } = passage
  const { actor, workspaceId } = callerOf(passage)
  if (workspaceId === NO_WORKSPACE && route.withoutWorkspace === true) return
  const workspace = await findWorkspace(database, workspaceId)
  if (workspace === undefined) throw refuse('unauthorized')
  passage.limits = limitsOf(plans, workspace.plan)
  if (route.whileSuspended !== 'refused' || isDryRun(passage)) return
  if (workspace.suspended_at !== null && route.ownersWhileSuspended === true && actor.role === 'owner') return
  if (workspace.suspended_at !== null) throw await suspendedRefusal(database, workspace)
  if (workspace.closed_at !== null && route.whileClosed !== 'allowed') throw refuse('workspace_closed')
}

/** The work of all surfaces together that the plan of the workspace allows. Requests about no workspace are only counted. */
function checkWork({ work }: Door, passage: Passage): void {
  const { limits, reply } = passage
  if (limits !== undefined) admitWork(work, { workspaceId: callerOf(passage).workspaceId, limits, reply })
}

/** The body as its verb will read it. A body that cannot be read is refused later, by the verb. */
function isDryRun({ route, request: { body } }: Passage): boolean {
  if (route.dryRun !== true || typeof body !== 'string') return false
  const read = parseJson(body, LIMITS.adminJsonDepthMax)
  return read.ok && typeof read.value === 'object' && read.value !== null && Reflect.get(read.value, 'dry_run') === true
}

function throwIf(refusal: Refusal | undefined): void {
  if (refusal !== undefined) throw refusal
}
