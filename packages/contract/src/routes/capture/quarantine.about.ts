import type { About } from '../../about.ts'
import type { quarantine } from './quarantine.ts'

export const about = {
  text: 'Requests with a wrong signature that an endpoint may still admit.',
} satisfies About<typeof quarantine>
