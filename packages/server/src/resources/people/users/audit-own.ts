import type { Ctx } from '../../../context.ts'
import { actorNames, audit } from '../../workspace/audit/index.ts'

/** Audits what people do to their own account, in the workspace they are a member of. Who is in none leaves a line in the log only: there is no chain for it. */
export async function auditOwn(tx: Ctx, entry: Parameters<typeof audit>[1]): Promise<void> {
  if (tx.workspaceId === '')
    tx.log.info('account.changed', { action: entry.action, user: actorNames(tx).actor, request_id: tx.requestId })
  else await audit(tx, entry)
}
