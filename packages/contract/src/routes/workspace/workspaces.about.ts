import type { About } from '../../about.ts'
import { type workspaces, Own, Workspace } from './workspaces.ts'
import { exampleId } from '../../openapi/example-id.ts'

export const about = {
  text: 'Workspaces own projects and have members.',
  refusals: {
    create: ['slug_taken', 'workspace_limit_reached', 'workspace_creation_closed'],
    close: ['invalid_state'],
    reopen: ['invalid_state'],
  },
  schemas: { OwnWorkspace: Own, Workspace },
  bodies: {
    create: { name: 'Acme' },
    switch: { workspace_id: exampleId('workspace') },
    update: { name: 'Acme Inc.' },
    close: { confirm: 'acme' },
  },
  members: {
    OwnWorkspace: { current: true, name: 'Acme', slug: 'acme' },
    Workspace: { name: 'Acme', slug: 'acme', plan: 'default' },
  },
} satisfies About<typeof workspaces>
