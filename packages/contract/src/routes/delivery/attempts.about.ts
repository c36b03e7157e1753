import type { About } from '../../about.ts'
import type { attempts } from './attempts.ts'

export const about = {
  text: 'Attempts of deliveries, with the request as it was sent.',
} satisfies About<typeof attempts>
