import type { Ctx } from '../../../context.ts'
import { limitsOf } from '../../../domain/workspace/plan.ts'
import { Refusal, refuse } from '../../../domain/refusal.ts'
import { countMembers, lockWorkspaceById } from '../../workspace/workspaces/index.ts'
import { countPendingInvites } from './queries.ts'

type Tx = Pick<Ctx, 'db' | 'plans' | 'upgradeUrl' | 'clock'>
type Held = NonNullable<Awaited<ReturnType<typeof lockWorkspaceById>>>

/** Locks the workspace of an invite until the commit, so that the counts stay true. Refuses one that is suspended or closed. */
export async function lockInviting(tx: Tx, workspaceId: string): Promise<Held> {
  const held = await lockWorkspaceById(tx.db, workspaceId)
  if (held === undefined) throw refuse('not_found')
  if (held.suspended_at !== null)
    throw refuse(
      'workspace_suspended',
      'The workspace of this invite is suspended. Ask the operator to reinstate it, then use the link again.',
    )
  if (held.closed_at !== null)
    throw refuse(
      'workspace_closed',
      'The workspace of this invite is closed. Ask its owner to reopen it, then use the link again.',
    )
  return held
}

/** Requires room for one more member. The invite of this person already counts, so other invites are not counted. */
export async function requireRoomForMember(tx: Tx, { id, plan }: Held): Promise<void> {
  requireRoom(tx, { plan, members: await countMembers(tx.db, id), pending: 0 })
}

/** Requires room for an invite. Pending invites to other addresses count too, so that a plan never promises one place twice. */
export async function reserveInvite(tx: Tx, at: { workspaceId: string; email: string }): Promise<Held> {
  const held = await lockInviting(tx, at.workspaceId)
  const members = await countMembers(tx.db, at.workspaceId)
  const pending = await countPendingInvites(tx.db, { ...at, now: new Date(tx.clock.now()) })
  requireRoom(tx, { plan: held.plan, members, pending })
  return held
}

function requireRoom(tx: Tx, at: { plan: string; members: number; pending: number }): void {
  const { members, pending } = at
  const { members: max } = limitsOf(tx.plans, at.plan)
  if (max === null || members + pending < max) return
  const [has, remedy] =
    pending === 0
      ? [`it has ${members}`, 'Remove one']
      : [`it has ${members} and ${pending} pending invites`, 'Remove a member or revoke an invite']
  throw new Refusal('member_limit_reached', {
    text: `The plan of this workspace allows ${max} members, and ${has}. ${remedy}, or move to a larger plan at upgrade_url.`,
    fields: {
      code: 'member_limit_reached',
      max_members: max,
      members,
      ...(pending === 0 ? {} : { pending_invites: pending }),
      upgrade_url: tx.upgradeUrl(),
    },
  })
}
