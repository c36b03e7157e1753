import type { About } from '../../about.ts'

export const about = {
  tables: {
    portal_customers: { exported: 'portal_customers' },
  },
} as const satisfies About
