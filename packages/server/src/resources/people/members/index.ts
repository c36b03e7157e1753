import { afterCursor, pageOf } from '../../page.ts'
import type { Room } from '../../verbs.ts'
import { update } from './change-role.ts'
import { leave, remove } from './depart.ts'
import { presentMember } from './present.ts'
import { listMembers } from './queries.ts'
import { transferOwnership } from './transfer-ownership.ts'

export { setRole } from './queries.ts'

export const members: Room<'members'> = {
  list: async (ctx, { limit, cursor }) => {
    const found = await listMembers(ctx.db, {
      workspaceId: ctx.workspaceId,
      before: afterCursor(cursor),
      limit: limit + 1,
    })
    const { rows, next_cursor } = pageOf(found, limit)
    return { members: rows.map(presentMember), next_cursor }
  },

  update,

  remove,

  leave,

  transferOwnership,
}
