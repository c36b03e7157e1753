import type { About } from '../../about.ts'
import type { portals } from './portals.ts'

export const about = {
  text: 'Customer portals, where your customers manage their own destinations.',
  refusals: {
    create: ['slug_taken', 'portal_limit_reached'],
    update: ['slug_taken', 'invalid_state'],
    remove: ['invalid_state'],
  },
} satisfies About<typeof portals>
