import type { About } from '../../about.ts'

export const about = {
  tables: {
    routing_plans: { exported: 'routing_plans' },
  },
} as const satisfies About
