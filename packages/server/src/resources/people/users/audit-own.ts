import type { Ctx } from '../../../context.ts'
import { actorNames, audit } from '../../workspace/audit/index.ts'

/** Audits a person's changes to their account in their workspace. Without one there is no chain, so it logs a line. */
export async function auditOwn(tx: Ctx, entry: Parameters<typeof audit>[1]): Promise<void> {
  if (tx.workspaceId === '')
    tx.log.info('account.changed', { action: entry.action, user: actorNames(tx).actor, request_id: tx.requestId })
  else await audit(tx, entry)
}
