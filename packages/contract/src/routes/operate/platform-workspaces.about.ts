import type { About } from '../../about.ts'
import type { platformWorkspaces } from './platform-workspaces.ts'

export const about = {
  text: 'For operators: every workspace of the installation.',
} satisfies About<typeof platformWorkspaces>
