import type { About } from '../../about.ts'
import type { platformWorkspaces } from './platform-workspaces.ts'

export const about = {
  text: 'For operators: every workspace of the installation.',
  bodies: {
    suspend: { reason: 'The invoice of May is unpaid.' },
    setPlan: { plan: 'team' },
  },
} satisfies About<typeof platformWorkspaces>
