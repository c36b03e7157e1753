import type { About } from '../../about.ts'
import type { broadcasts } from './broadcasts.ts'

export const about = {
  text: 'Announcements of the operators to this workspace.',
  members: {
    Broadcast: { title: 'Maintenance on Sunday', text: 'Deliveries pause for about 5 minutes at 06:00 UTC.' },
  },
} satisfies About<typeof broadcasts>
