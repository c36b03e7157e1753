import type { Ctx } from '../../../context.ts'
import { actorNames, audit } from '../../workspace/audit/index.ts'

/** Audits a person's changes to their account, in the workspace they are in. Without a workspace there is no chain, so it writes a log line. */
export async function auditOwn(tx: Ctx, entry: Parameters<typeof audit>[1]): Promise<void> {
  if (tx.workspaceId === '')
    tx.log.info('account.changed', { action: entry.action, user: actorNames(tx).actor, request_id: tx.requestId })
  else await audit(tx, entry)
}
