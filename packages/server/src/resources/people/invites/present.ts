import { encodeId } from '@postroad/contract'
import type { Ctx } from '../../../context.ts'
import type { InviteRow } from './queries.ts'

/** Row → public shape, without the token. An invite is expired from its expiry on. */
export function presentInvite({ clock }: Pick<Ctx, 'clock'>, row: InviteRow) {
  return {
    id: encodeId('invite', row.id),
    email: row.email,
    role: row.role,
    status: row.expires_at.getTime() <= clock.now() ? ('expired' as const) : ('pending' as const),
    invited_by: { id: encodeId('user', row.invited_by), name: row.inviter_name },
    created_at: row.created_at.toISOString(),
    expires_at: row.expires_at.toISOString(),
  }
}
