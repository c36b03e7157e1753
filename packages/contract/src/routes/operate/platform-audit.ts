import { ListQuery, listOf } from '../../list.ts'
import { defineRoute, OPERATORS_READ } from '../../route.ts'
import { AuditRow } from '../workspace/audit.ts'

export const platformAudit = {
  list: defineRoute({
    method: 'GET',
    area: 'workspace',
    path: 'platform/audit',
    summary: 'List the audit log of the installation',
    description:
      'Operator changes to installation settings and announcements, newest first. Operator changes to a workspace are in the audit log of that workspace.',
    ...OPERATORS_READ,
    status: 200,
    query: ListQuery,
    output: listOf('audit', AuditRow),
  }),
} as const
