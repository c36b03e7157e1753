import { encodeId, LIMITS } from '@postroad/contract'
import { asSystem } from '../../../as-system.ts'
import type { Deps } from '../../../context.ts'
import { lesserRole, type Actor } from '../../../domain/people/actor.ts'
import { compileIpAllowlist } from '../../../domain/ip-range.ts'
import { refuse } from '../../../domain/refusal.ts'
import { hashCredential } from '../../../platform/cipher.ts'
import type { Db } from '../../../platform/db.ts'
import { inTransaction } from '../../../transaction.ts'
import { audit } from '../../workspace/audit/index.ts'
import { findCredential } from '../../capture/credentials/index.ts'
import { findMember } from '../users/index.ts'
import { statusOf } from './present.ts'
import { findApiKey, touchApiKey, type ApiKeyRow } from './queries.ts'

export type Identified = {
  readonly actor: Actor & { kind: 'api_key' }
  readonly workspaceId: string
  /** The addresses from which the key may be used, and the time of its last use. */
  readonly key: Pick<ApiKeyRow, 'ip_allowlist' | 'last_used_at'>
}

const UNKNOWN_KEY =
  'This API key does not exist on this server. Check that you copied the whole key, and that it belongs to this server.'

/**
 * The actor behind an `hk_` key. It acts as the member who created it, limited to the role of the key and to the current role of that
 * member. An unknown key is as unauthorized as none.
 */
export async function identifyApiKey(at: { db: Db; now: number }, text: string): Promise<Identified> {
  const credential = await findCredential(at.db, hashCredential(text))
  if (credential?.kind !== 'api_key') throw refuse('unauthorized', UNKNOWN_KEY)
  const workspaceId = credential.workspace_id
  const key = await findApiKey(at.db, { workspaceId, id: credential.subject_id })
  if (key === undefined) throw refuse('unauthorized', UNKNOWN_KEY)
  const status = statusOf(key, at.now)
  if (status === 'revoked') throw refuse('api_key_revoked')
  if (status === 'expired') throw refuse('api_key_expired')
  const creator = await findMember(at.db, { workspaceId, userId: key.created_by })
  if (creator === undefined)
    throw refuse('unauthorized', 'The person who created this key is no longer in the workspace. Create a new key.')
  const role = lesserRole(key.role, creator.role)
  return {
    workspaceId,
    key,
    actor: { kind: 'api_key', keyId: key.id, userId: key.created_by, role, projectId: key.project_id },
  }
}

/** The origin of a request; `ip` is undefined when it is unknown. */
type ComesFrom = { readonly ip: string | undefined; readonly requestId: string }

/**
 * Contract part 5, rule 4: a key with an allowlist may be used only from its addresses, and never from an unknown address. Each refusal
 * is audited. A permitted use is stored at most once a minute.
 */
export async function admitApiKey(deps: Deps, { actor, workspaceId, key }: Identified, from: ComesFrom): Promise<void> {
  const allows = compileIpAllowlist(key.ip_allowlist)
  if (allows?.(from.ip) === false) {
    await auditDenied(deps, { actor, workspaceId, from })
    throw refuse(
      'ip_not_allowed',
      'This API key cannot be used from this address. Use it from an address in its allowlist, or create another key.',
    )
  }
  const now = deps.clock.now()
  const since = now - LIMITS.apiKeyUsePersistMs
  if (key.last_used_at !== null && key.last_used_at.getTime() > since) return
  await touchApiKey(deps.database, { workspaceId, id: actor.keyId, now: new Date(now), since: new Date(since) })
}

function auditDenied(
  deps: Deps,
  { actor, workspaceId, from }: Pick<Identified, 'actor' | 'workspaceId'> & { from: ComesFrom },
): Promise<void> {
  const ctx = { ...asSystem(deps, { workspaceId, projectId: '', requestId: from.requestId }), actor, ip: from.ip }
  return inTransaction(ctx, (tx) =>
    audit(tx, {
      action: 'access_denied',
      target: encodeId('apiKey', actor.keyId),
      details: { reason: 'ip_not_allowed' },
    }),
  )
}
