import type { About } from '../../about.ts'
import { type workspaces, Own, Workspace } from './workspaces.ts'

export const about = {
  text: 'Workspaces own projects and have members.',
  refusals: {
    create: ['slug_taken', 'workspace_limit_reached', 'workspace_creation_closed'],
    close: ['invalid_state'],
    reopen: ['invalid_state'],
  },
  schemas: { OwnWorkspace: Own, Workspace },
} satisfies About<typeof workspaces>
