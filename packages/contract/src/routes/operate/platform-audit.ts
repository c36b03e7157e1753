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
      'What operators changed for the whole installation: its settings and announcements, newest first. What they do to one workspace is in the audit log of that workspace.',
    ...OPERATORS_READ,
    status: 200,
    query: ListQuery,
    output: listOf('audit', AuditRow),
  }),
} as const
