import type { About } from '../../about.ts'
import { type members, Member } from './members.ts'
import { exampleId } from '../../openapi/example-id.ts'

export const about = {
  text: 'People in the workspace, and their roles.',
  refusals: {
    update: ['last_owner', 'invalid_state'],
    remove: ['last_owner', 'invalid_state'],
    leave: ['last_owner'],
    transferOwnership: ['invalid_state'],
  },
  schemas: { Member },
  bodies: {
    update: { role: 'admin' },
    leave: { workspace_id: exampleId('workspace') },
    transferOwnership: { user_id: exampleId('user') },
  },
  members: { Member: { name: 'Ada' } },
} satisfies About<typeof members>
