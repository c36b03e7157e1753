import { encodeId } from '@postroad/contract'
import { asSystem } from '../../../as-system.ts'
import type { Deps } from '../../../context.ts'
import type { Actor } from '../../../domain/people/actor.ts'
import { compileIpAllowlist } from '../../../domain/ip-range.ts'
import { refuse } from '../../../domain/refusal.ts'
import { inTransaction } from '../../../transaction.ts'
import { hasRoom } from '../../people/throttles/index.ts'
import { audit } from '../audit/index.ts'
import { findNetwork } from './queries.ts'

type Asking = {
  readonly actor: Actor
  readonly workspaceId: string
  /** The key, the person or the agent, under which refusals are counted. */
  readonly credential: string
  /** undefined: the address is unknown. */
  readonly ip: string | undefined
  readonly requestId: string
}

/** A page of the console that is open elsewhere asks several times a minute, and one audit row is enough. */
const AUDITED_EVERY_MS = 60_000

/**
 * Refuses a request from an address outside the list of the workspace, and one from an unknown address. The list is read from
 * the database, so that a change applies on every node from the next request on.
 */
export async function admitFrom(deps: Deps, asking: Asking): Promise<void> {
  const found = await findNetwork(deps.database.forWorkspace(asking.workspaceId), asking.workspaceId)
  if (found === undefined || compileIpAllowlist(found.ip_allowlist)?.(asking.ip) !== false) return
  const { ip = 'unknown', workspaceId, credential } = asking
  const whose = `${workspaceId} ${credential} ${ip}`
  if (await hasRoom(deps, { what: 'network_denied', whose, burst: 1, refillMs: AUDITED_EVERY_MS }))
    await auditDenied(deps, asking)
  throw refuse('ip_not_allowed', sentenceFor(asking))
}

function auditDenied(deps: Deps, { actor, workspaceId, requestId, ip }: Asking): Promise<void> {
  return inTransaction({ ...asSystem(deps, { workspaceId, projectId: '', requestId }), actor, ip }, (tx) =>
    audit(tx, {
      action: 'access_denied',
      target: encodeId('workspace', workspaceId),
      details: { reason: 'network_access' },
    }),
  )
}

function sentenceFor({ ip }: Asking): string {
  const where = ip === undefined ? 'The address that you send from is unknown' : `Your address ${ip} is not in its list`
  return `This workspace accepts requests only from certain addresses. ${where}. Use an address in the list, or ask an admin of the workspace or the operator to change the list.`
}
