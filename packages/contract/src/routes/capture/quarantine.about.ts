import type { About } from '../../about.ts'
import { type quarantine, Quarantine } from './quarantine.ts'

export const about = {
  text: 'Requests with a wrong signature that an endpoint may still admit.',
  schemas: { Quarantine },
} satisfies About<typeof quarantine>
