import type { About } from '../../about.ts'

export const about = {
  tables: {
    monthly_usage: { exported: 'monthly_usage' },
    event_descendants: { leftOut: 'Counts of the events that workflows and agents made from one event.' },
  },
} as const satisfies About
