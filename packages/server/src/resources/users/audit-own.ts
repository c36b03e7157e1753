import type { Ctx } from '../../context.ts'
import { audit } from '../audit/index.ts'

/** Audits what people do to their own account, in the workspace they are in. Who is in none leaves a line in the log only. */
export async function auditOwn(tx: Ctx, entry: Parameters<typeof audit>[1]): Promise<void> {
  if (tx.workspaceId === '') tx.log.info('account.changed', { action: entry.action, request_id: tx.requestId })
  else await audit(tx, entry)
}
