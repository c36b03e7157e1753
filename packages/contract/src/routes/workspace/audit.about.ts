import type { About } from '../../about.ts'
import { type audit, AuditRow, Verification } from './audit.ts'
import { exampleId } from '../../openapi/example-id.ts'

export const about = {
  text: 'The log of every change, chained by hash.',
  schemas: { AuditRow, AuditVerification: Verification },
  members: {
    AuditRow: {
      action: 'create_destination',
      actor: exampleId('user'),
      target: exampleId('destination'),
      details: { name: 'ERP' },
      ip: '203.0.113.7',
    },
    AuditVerification: { ok: true, problem: null },
  },
} satisfies About<typeof audit>
