import type { About } from '../../about.ts'
import type { platformHealth } from './platform-health.ts'

export const about = {
  text: 'For operators: the health of the installation.',
  members: { Loop: { name: 'mail.send' } },
} satisfies About<typeof platformHealth>
