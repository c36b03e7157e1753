import type { About } from '../../about.ts'
import type { platformBroadcasts } from './platform-broadcasts.ts'

export const about = {
  text: 'For operators: announcements to workspaces.',
  bodies: {
    create: {
      title: 'Maintenance on Sunday',
      text: 'Deliveries pause for about 5 minutes at 06:00 UTC.',
      severity: 'warning',
      ends_at: '2026-11-29T08:00:00Z',
    },
  },
} satisfies About<typeof platformBroadcasts>
