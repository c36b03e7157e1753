import type { About } from '../../about.ts'
import { type deliveries, Attempt, Delivery, ListedDelivery } from './deliveries.ts'

export const about = {
  text: 'Records on their way to a destination, with every attempt.',
  refusals: {
    replay: ['invalid_state', 'delivery_allowance_exhausted'],
    retry: ['invalid_state'],
    cancel: ['invalid_state'],
  },
  schemas: { Attempt, Delivery, ListedDelivery },
} satisfies About<typeof deliveries>
