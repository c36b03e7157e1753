import { encodeId, SECRET_PREFIXES } from '@postroad/contract'
import type { Ctx } from '../../context.ts'
import { lesserRole, type Actor } from '../../domain/actor.ts'
import { refuse } from '../../domain/refusal.ts'
import { hashCredential } from '../../platform/cipher.ts'
import type { Db } from '../../platform/db.ts'
import { audit } from '../audit/index.ts'
import { findCredential, insertCredential } from '../credentials/index.ts'
import { findMember } from '../workspaces/index.ts'
import { findApiKey, insertApiKey, touchApiKey, type ApiKeyRow } from './queries.ts'

const SHOWN_CHARS = SECRET_PREFIXES.apiKey.length + 8

/** Mints an admin API key inside the caller's transaction and gives its text, which is stored nowhere. */
export async function mintApiKey(tx: Ctx, of: { name: string; role: ApiKeyRow['role']; createdBy: string }): Promise<string> {
  const key = SECRET_PREFIXES.apiKey + tx.randomText(43)
  const id = tx.uuid()
  const { name, role, createdBy } = of
  const shownPrefix = key.slice(0, SHOWN_CHARS)
  await insertApiKey(tx.db, {
    workspaceId: tx.workspaceId,
    id,
    name,
    shownPrefix,
    role,
    projectId: null,
    createdBy,
    expiresAt: null,
    now: new Date(tx.clock.now()),
  })
  await insertCredential(tx.db, { hash: hashCredential(key), kind: 'api_key', workspaceId: tx.workspaceId, projectId: null, subjectId: id })
  await audit(tx, { action: 'create_api_key', target: encodeId('apiKey', id), details: { name, role } })
  return key
}

export type Identified = { readonly actor: Actor & { kind: 'api_key' }; readonly workspaceId: string }

/**
 * The actor behind an `hk_` key: it acts as the member who created it, capped at the key's role and at what that member
 * may do at this moment. An unknown key is as unauthorized as none.
 */
export async function identifyApiKey(at: { db: Db; now: number }, key: string): Promise<Identified> {
  const credential = await findCredential(at.db, hashCredential(key))
  if (credential?.kind !== 'api_key') throw refuse('unauthorized')
  const workspaceId = credential.workspace_id
  const row = await findApiKey(at.db, { workspaceId, id: credential.subject_id })
  if (row === undefined) throw refuse('unauthorized')
  if (row.revoked_at !== null) throw refuse('api_key_revoked')
  if (row.expires_at !== null && row.expires_at.getTime() <= at.now) throw refuse('api_key_expired')
  const creator = await findMember(at.db, { workspaceId, userId: row.created_by })
  if (creator === undefined) throw refuse('unauthorized', 'The person who created this key is no longer in the workspace. Create a new key.')
  await touchApiKey(at.db, { workspaceId, id: row.id, now: new Date(at.now) })
  const role = lesserRole(row.role, creator.role)
  return { workspaceId, actor: { kind: 'api_key', keyId: row.id, userId: row.created_by, role, projectId: row.project_id } }
}
