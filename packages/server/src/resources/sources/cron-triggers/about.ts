import type { About } from '../../about.ts'

export const about = {
  tables: {
    cron_triggers: { exported: 'cron_triggers', unconfigured: { kind: 'cron_trigger' } },
  },
} as const satisfies About
