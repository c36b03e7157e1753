import type { About } from '../../about.ts'
import { type members, Member } from './members.ts'

export const about = {
  text: 'People in the workspace, and their roles.',
  refusals: {
    update: ['last_owner', 'invalid_state'],
    remove: ['last_owner', 'invalid_state'],
    leave: ['last_owner'],
    transferOwnership: ['invalid_state'],
  },
  schemas: { Member },
} satisfies About<typeof members>
