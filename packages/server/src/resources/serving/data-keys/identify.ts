import { LIMITS } from '@postroad/contract'
import type { Deps } from '../../../context.ts'
import { refuse } from '../../../domain/refusal.ts'
import { hashCredential } from '../../../platform/cipher.ts'
import { findCredential } from '../../capture/credentials/index.ts'
import { hasExpired } from './present.ts'
import { findDataKey, touchDataKey, type DataKeyRow } from './queries.ts'

/** A Data API key with its place. */
export type DataReader = {
  readonly workspaceId: string
  readonly projectId: string
  readonly key: Pick<
    DataKeyRow,
    'id' | 'datasets' | 'requests_per_10_seconds' | 'ip_allowlist' | 'last_used_at' | 'expires_at'
  >
}

/** The reader behind an `hdk_` key. Throws 401 for an unknown or expired key. */
export async function identifyDataKey(deps: Deps, text: string): Promise<DataReader> {
  const credential = await findCredential(deps.database, hashCredential(text))
  if (credential?.kind !== 'data_key' || credential.project_id === null) throw refuse('data_key_required')
  const at = { workspaceId: credential.workspace_id, projectId: credential.project_id }
  const key = await findDataKey(deps.database.forWorkspace(at.workspaceId), { ...at, id: credential.subject_id })
  if (key === undefined) throw refuse('data_key_required')
  if (hasExpired(key, deps.clock.now())) throw refuse('data_key_expired')
  return { ...at, key }
}

/** Stores the time of use, at most once a minute. */
export async function noteDataKeyUse(deps: Deps, { key, ...at }: DataReader): Promise<void> {
  const now = deps.clock.now()
  const since = now - LIMITS.apiKeyUsePersistMs
  if (key.last_used_at !== null && key.last_used_at.getTime() > since) return
  await touchDataKey(deps.database.forWorkspace(at.workspaceId), {
    ...at,
    id: key.id,
    now: new Date(now),
    since: new Date(since),
  })
}
