import type { Ctx } from '../../context.ts'
import { limitsOf } from '../../domain/plan.ts'
import { Refusal, refuse } from '../../domain/refusal.ts'
import { countMembers, holdWorkspace } from '../workspaces/index.ts'

/** Holds the workspace, so that the count stays true until the commit, and refuses when its plan allows no more members. */
export async function holdRoomForOne(tx: Pick<Ctx, 'db' | 'plans' | 'upgradeUrl'>, workspaceId: string): Promise<{ readonly slug: string; readonly name: string; readonly closed_at: Date | null }> {
  const held = await holdWorkspace(tx.db, workspaceId)
  if (held === undefined) throw refuse('not_found')
  const { members: max } = limitsOf(tx.plans, held.plan)
  const members = await countMembers(tx.db, workspaceId)
  if (max === null || members < max) return held
  const text = `The plan of this workspace allows ${max} members, and it has ${members}. Remove one, or move to a larger plan at upgrade_url.`
  throw new Refusal('member_limit_reached', { text, fields: { code: 'member_limit_reached', max_members: max, members, upgrade_url: tx.upgradeUrl() } })
}
