import type { About } from '../../about.ts'
import type { deliveryHolds } from './delivery-holds.ts'

export const about = {
  text: 'Destinations that hold deliveries back, and why.',
} satisfies About<typeof deliveryHolds>
