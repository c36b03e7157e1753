import type { About } from '../../about.ts'
import type { destinations } from './destinations.ts'

export const about = {
  text: 'Receivers of deliveries, with their signing, retries, limits and health.',
  refusals: {
    create: ['name_taken', 'invalid_url'],
    update: ['name_taken', 'invalid_url', 'invalid_state'],
    recover: ['replay_limit_reached', 'delivery_allowance_exhausted', 'search_timed_out'],
    probe: ['invalid_state'],
    rotateSecret: ['overlap_running'],
  },
} satisfies About<typeof destinations>
