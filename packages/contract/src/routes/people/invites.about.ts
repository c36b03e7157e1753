import type { About } from '../../about.ts'
import { type invites, Invite } from './invites.ts'

export const about = {
  text: 'Open invitations to the workspace.',
  refusals: {
    create: ['member_limit_reached', 'invalid_state'],
    resend: ['invalid_state'],
    accept: ['invite_over', 'invite_for_another', 'member_limit_reached', 'invalid_state'],
  },
  schemas: { Invite },
  bodies: { create: { email: 'ada@example.com', role: 'developer' }, accept: { token: 'the token of the link' } },
  members: { Invite: { status: 'pending' } },
} satisfies About<typeof invites>
