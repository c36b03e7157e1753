import type { About } from '../../about.ts'

export const about = {
  tables: {
    cron_triggers: { exported: 'cron_triggers' },
  },
} as const satisfies About
