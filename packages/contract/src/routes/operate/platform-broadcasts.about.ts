import type { About } from '../../about.ts'
import type { platformBroadcasts } from './platform-broadcasts.ts'

export const about = {
  text: 'For operators: announcements to workspaces.',
} satisfies About<typeof platformBroadcasts>
