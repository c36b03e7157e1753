import type { About } from '../../about.ts'
import type { dashboard } from './dashboard.ts'

export const about = {
  text: 'Counts and latencies over time.',
} satisfies About<typeof dashboard>
