import type { About } from '../../about.ts'
import type { audit } from './audit.ts'

export const about = {
  text: 'The log of every change, chained by hash.',
} satisfies About<typeof audit>
