import type { About } from '../../about.ts'
import type { platformAudit } from './platform-audit.ts'

export const about = {
  text: 'For operators: the log of changes to the installation.',
} satisfies About<typeof platformAudit>
