import type { About } from '../../about.ts'
import { type quarantine, Quarantine } from './quarantine.ts'

export const about = {
  text: 'Requests with a wrong signature that an endpoint may still admit.',
  schemas: { Quarantine },
  bodies: { update: { hours: 24 } },
  members: { Quarantine: { hours: 24, count: 0, bytes: 0, requests: [] } },
} satisfies About<typeof quarantine>
