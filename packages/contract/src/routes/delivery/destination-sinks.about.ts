import type { About } from '../../about.ts'
import type { destinationSinks } from './destination-sinks.ts'

export const about = {
  text: 'Destinations that this server receives itself, to try out deliveries.',
  refusals: { create: ['name_taken', 'invalid_url'] },
  bodies: { create: { name: 'Sink' } },
} satisfies About<typeof destinationSinks>
