import type { About } from '../../about.ts'

export const about = {
  tables: {
    ai_triggers: { exported: 'triggers' },
  },
} as const satisfies About
