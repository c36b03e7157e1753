import { encodeId } from '@postroad/contract'
import { asSystem } from '../../as-system.ts'
import type { Deps } from '../../context.ts'
import type { Db } from '../../platform/db.ts'
import { audit } from '../audit/index.ts'

/** No member switched it off: the row names the attempt that was answered 410, in the transaction that settles it. */
export function auditGone(deps: Deps, db: Db, at: Parameters<Deps['auditGone']>[1]): Promise<void> {
  const { workspaceId, projectId, destinationId, attemptId } = at
  const ctx = { ...asSystem(deps, { workspaceId, projectId, requestId: attemptId }), db }
  const details = { reason: 'gone', attempt: encodeId('attempt', attemptId) }
  return audit(ctx, { action: 'disable_destination', target: encodeId('destination', destinationId), details })
}
