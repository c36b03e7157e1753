import { encodeId, SECRET_PREFIXES } from '@postroad/contract'
import type { Ctx } from '../../../context.ts'
import { hashCredential } from '../../../platform/cipher.ts'
import { audit } from '../../workspace/audit/index.ts'
import { insertCredential } from '../../capture/credentials/index.ts'
import { mintSecret } from '../../mint.ts'
import { insertApiKey, type ApiKeyRow, type KeyOrigin } from './queries.ts'

const SHOWN_CHARS = SECRET_PREFIXES.apiKey.length + 8

type Minting = Pick<ApiKeyRow, 'name' | 'role' | 'created_by'> &
  Partial<Pick<ApiKeyRow, 'project_id' | 'ip_allowlist' | 'expires_at'>> & { readonly origin?: KeyOrigin }

/** Creates an admin API key inside the caller's transaction and returns its text, which is stored nowhere. */
export async function mintApiKey(tx: Ctx, of: Minting): Promise<{ readonly id: string; readonly key: string }> {
  const key = mintSecret(tx, 'apiKey')
  const id = tx.uuid()
  const { name, role, created_by, project_id = null, ip_allowlist = [], expires_at = null, origin = null } = of
  const row = {
    id,
    name,
    role,
    project_id,
    ip_allowlist,
    created_by,
    expires_at,
    origin,
    shown_prefix: key.slice(0, SHOWN_CHARS),
  }
  await insertApiKey(tx.db, { ...row, workspaceId: tx.workspaceId, now: new Date(tx.clock.now()) })
  await insertCredential(tx.db, {
    hash: hashCredential(key),
    kind: 'api_key',
    workspaceId: tx.workspaceId,
    projectId: null,
    subjectId: id,
  })
  const bounds = {
    project_id: project_id === null ? null : encodeId('project', project_id),
    expires_at: expires_at?.toISOString() ?? null,
    ip_allowlist,
  }
  await audit(tx, { action: 'create_api_key', target: encodeId('apiKey', id), details: { name, role, ...bounds } })
  return { id, key }
}
