import { encodeId, LIMITS, RESERVED_ROOTS, type Challenge, type Solution } from '@postroad/contract'
import { asSystem } from '../../../as-system.ts'
import type { Ctx, Deps } from '../../../context.ts'
import { Refusal, refuse } from '../../../domain/refusal.ts'
import { isSigned, isSolved, isTooEasy } from '../../../domain/people/proof-of-work.ts'
import { networkOf, sourceOf } from '../../../domain/people/source-network.ts'
import { hashCredential } from '../../../platform/cipher.ts'
import { DbError } from '../../../platform/db.ts'
import { inTransaction } from '../../../transaction.ts'
import { insertUnderFreeSlug } from '../../free-slug.ts'
import { mintSecret } from '../../mint.ts'
import { audit } from '../../workspace/audit/index.ts'
import { insertProject } from '../../workspace/projects/index.ts'
import { insertOwner, insertWorkspace } from '../../workspace/workspaces/index.ts'
import { mintApiKey } from '../api-keys/index.ts'
import { countToday, fillOf, requireRoomIn } from './caps.ts'
import { challengeKeys } from './challenge.ts'
import { asUnavailable, PLAN, type Open } from './open.ts'
import { presentAccount } from './present.ts'
import {
  beginRegistration,
  endRegistration,
  findRegistration,
  freeAbandoned,
  freeRegistration,
  insertAgentAccount,
  type RegistrationRow,
} from './queries.ts'
import { countedRefusal, requireRoomFor } from './rate.ts'

/** A registration whose members have the right form. */
export type Registering = {
  readonly agent_name: string
  readonly operator_contact: string | null
  /** The current Terms. */
  readonly accept_terms: string
  readonly challenge: Challenge
  readonly solution: Solution
}

export type RegistrationRequest = {
  readonly body: Registering
  /** The settings that `requireOpen` returned. */
  readonly settings: Open['settings']
  readonly idempotencyKey: string | undefined
  readonly ip: string | undefined
  readonly requestId: string
}

type Use = { readonly nonce: Buffer; readonly keyHash: Buffer | null }

/**
 * Registers an agent: an identity, a workspace with a Default project, and a key, in one commit. The checks come from cheap to
 * expensive, and each challenge is used once.
 */
export async function registerAgent(deps: Deps, request: RegistrationRequest) {
  const { body, ip, settings } = request
  const cap = settings.agent_registrations_per_day
  await requireOwnChallenge(deps, request).catch((refusal: unknown) => countedRefusal(deps, { refusal, ip }))
  const use = useOf(request)
  await asUnavailable(() => refuseUsed(deps, use))
  await requireRoomFor(deps, {
    what: 'agent_registration',
    whose: sourceOf(ip),
    burst: LIMITS.agentRegistrationBurst,
    refillMs: LIMITS.agentRegistrationRefillMs,
  })
  const fill = await asUnavailable(() => fillOf(deps, { ip, cap }))
  if (isTooEasy(body.challenge.parameters, requireRoomIn(deps, fill))) throw refuse('challenge_expired', TOO_EASY)
  if (!(await isSolved(body.challenge.parameters, body.solution))) throw refuse('invalid_proof_of_work')
  await asUnavailable(() => begin(deps, use))
  return create(deps, { request, use, cap })
}

const TOO_EASY =
  'Many agents have registered since this server made the challenge, so it is too easy now. Get a new one, and send its solution.'

/** The challenge is of this server, still valid, and for the network that sends the solution. */
async function requireOwnChallenge(deps: Deps, { body: { challenge }, ip }: RegistrationRequest): Promise<void> {
  if (!isSigned(challenge, challengeKeys(deps)))
    throw refuse(
      'invalid_challenge',
      'This server did not sign this challenge. Send parameters and signature exactly as GET /v1/agents/register/challenge returned them.',
    )
  if (challenge.parameters.expiresAt * 1_000 <= deps.clock.now()) throw refuse('challenge_expired')
  const { network } = challenge.parameters.data
  if (network !== networkOf(ip))
    throw refuse(
      'invalid_challenge',
      `This challenge is for the network ${network}, and the registration came from ${networkOf(ip)}. Get a challenge and register from the same network.`,
    )
}

/** Keys of strangers are separate, so that guessing a key does not reveal an account. */
function useOf({ body, idempotencyKey, ip }: RegistrationRequest): Use {
  const keyHash = idempotencyKey === undefined ? null : hashCredential(`${sourceOf(ip)}\n${idempotencyKey}`)
  return { nonce: Buffer.from(body.challenge.parameters.nonce, 'hex'), keyHash }
}

/** Refuses a used challenge or key. If its request never ended, it is free after a minute. */
async function refuseUsed({ database, clock }: Deps, use: Use): Promise<void> {
  const found = await findRegistration(database.forSystem, use)
  if (found === undefined) return
  const before = clock.now() - LIMITS.agentRegistrationRunningMs
  if (found.account_id !== null || found.started_at.getTime() > before) throw conflictOf(found)
  await freeAbandoned(database.forSystem, { ...use, before: new Date(before) })
}

function conflictOf({ account_id: id, by_key: byKey }: RegistrationRow): Refusal {
  if (id === null) return new Refusal('registration_in_progress', { fields: { retry_after: 1 } })
  return new Refusal(byKey ? 'already_registered' : 'challenge_spent', {
    fields: { account_id: encodeId('agentAccount', id) },
  })
}

async function begin(deps: Deps, use: Use): Promise<void> {
  const db = deps.database.forSystem
  if (await beginRegistration(db, { ...use, now: new Date(deps.clock.now()) })) return
  const found = await findRegistration(db, use)
  throw found === undefined
    ? new Refusal('registration_in_progress', { fields: { retry_after: 1 } })
    : conflictOf(found)
}

/** PostgreSQL canceled a statement for a timeout or a deadlock. Nothing was committed, so a repeat is possible. */
const BUSY = /^(?:57014|55P03|40001|40P01)$/

type Creating = { readonly request: RegistrationRequest; readonly use: Use; readonly cap: number }

async function create(deps: Deps, creating: Creating) {
  const { request, use } = creating
  const ctx: Ctx = {
    ...asSystem(deps, { workspaceId: '', projectId: '', requestId: request.requestId }),
    ip: request.ip,
  }
  try {
    // oxlint-disable-next-line house/verb-guards -- createAccount writes the row, in the workspace that it creates
    return await inTransaction(ctx, (tx) => createAccount(tx, creating))
  } catch (error) {
    const isBusy = error instanceof DbError && BUSY.test(error.code)
    // The commit may have happened. The next request finds out.
    if (error instanceof DbError && error.unavailable && !isBusy)
      throw new Refusal('registration_incomplete', {
        fields: { retry_after: LIMITS.agentRegistrationRunningMs / 1_000 },
        cause: error,
      })
    await asUnavailable(() => freeRegistration(deps.database.forSystem, use.nonce))
    if (isBusy) throw new Refusal('agent_registration_unavailable', { fields: { retry_after: 1 }, cause: error })
    throw error
  }
}

async function createAccount(tx: Ctx, { request, use, cap }: Creating) {
  const { body, ip } = request
  await countToday(tx, { ip, cap })
  const now = new Date(tx.clock.now())
  const [id, workspaceId, userId, projectId] = [tx.uuid(), tx.uuid(), tx.uuid(), tx.uuid()]
  const workspace = await insertUnderFreeSlug(tx, {
    slug: undefined,
    name: body.agent_name,
    fallback: 'agent',
    insert: async (slug) =>
      RESERVED_ROOTS.has(slug)
        ? undefined
        : insertWorkspace(tx.db, { id: workspaceId, slug, name: body.agent_name, plan: PLAN, now }),
  })
  await asIdentityProvider(() => insertOwner(tx.db, { workspaceId, id: userId, name: body.agent_name, now }))
  const project = { workspaceId, id: projectId, slug: 'default', name: 'Default', isDefault: true, now }
  await insertProject(tx.db, project)
  const inside: Ctx = { ...tx, workspaceId }
  const { key } = await mintApiKey(inside, { name: 'Agent', role: 'admin', created_by: userId })
  const claim = mintSecret(tx, 'claimToken')
  const row = await insertAgentAccount(tx.db, {
    workspace_id: workspaceId,
    id,
    user_id: userId,
    name: body.agent_name,
    operator_contact: body.operator_contact,
    terms_version: body.accept_terms,
    claimHash: hashCredential(claim),
    created_at: now,
  })
  if (!(await endRegistration(tx.db, { nonce: use.nonce, accountId: id })))
    throw new Refusal('registration_in_progress', { fields: { retry_after: 1 } })
  await audit(inside, {
    action: 'register_agent_account',
    target: encodeId('agentAccount', id),
    details: { name: row.name, operator_contact: row.operator_contact, terms_version: row.terms_version },
  })
  const base = tx.baseUrl()
  return {
    account: presentAccount(row),
    workspace: {
      id: encodeId('workspace', workspaceId),
      slug: workspace.slug,
      name: workspace.name,
      plan: PLAN,
    },
    project: { id: encodeId('project', projectId), slug: project.slug },
    key,
    claim: { token: claim, url: `${base}/account/claim#t=${claim}` },
    api_url: `${base}/admin/api`,
    mcp_url: `${base}/mcp`,
  }
}

/** The identity of an agent is a row of this database, so it fails only when the database refuses that row. */
async function asIdentityProvider<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (cause) {
    if (!(cause instanceof DbError) || cause.unavailable || BUSY.test(cause.code)) throw cause
    throw new Refusal('identity_provider_error', { cause })
  }
}
