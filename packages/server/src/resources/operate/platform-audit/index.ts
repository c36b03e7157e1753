import { auditLog } from '../../workspace/audit/index.ts'
import type { Room } from '../../verbs.ts'
import { INSTALLATION } from '../operators/index.ts'

export const platformAudit: Room<'platformAudit'> = {
  list: (ctx, page) => auditLog.list({ ...ctx, workspaceId: INSTALLATION }, page),
}
