import type { About } from '../../about.ts'

export const about = {
  tables: {
    deliveries: { exported: 'deliveries' },
    delivery_attempts: { exported: 'deliveries' },
  },
} as const satisfies About
