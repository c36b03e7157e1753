import type { About } from '../../about.ts'
import type { forwarders } from './forwarders.ts'

export const about = {
  text: 'Receivers of the logs and traces of a project.',
  refusals: { create: ['name_taken', 'forwarder_limit_reached'], update: ['name_taken'] },
} satisfies About<typeof forwarders>
