import type { About } from '../../about.ts'
import { type audit, AuditRow, Verification } from './audit.ts'

export const about = {
  text: 'The log of every change, chained by hash.',
  schemas: { AuditRow, AuditVerification: Verification },
} satisfies About<typeof audit>
