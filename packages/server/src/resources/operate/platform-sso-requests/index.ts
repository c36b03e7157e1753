import { encodeId } from '@postroad/contract'
import type { Ctx } from '../../../context.ts'
import { refuse } from '../../../domain/refusal.ts'
import { afterCursor, pageOf } from '../../page.ts'
import {
  decideRequest,
  listRequestsOfAll,
  presentRequest,
  type AnySsoRequestRow,
} from '../../people/sso-requests/index.ts'
import type { Room } from '../../verbs.ts'
import { operatorIn } from '../operators/index.ts'

export const platformSsoRequests: Room<'platformSsoRequests'> = {
  list: async (ctx, { limit, cursor, status = null }) => {
    const at = { before: afterCursor(cursor), limit: limit + 1, status, id: null }
    const { rows, next_cursor } = pageOf(await listRequestsOfAll(ctx.db, at), limit)
    return { requests: rows.map(present), next_cursor }
  },

  get: async (ctx, { id }) => ({ request: present(await find(ctx, id)) }),

  decide: async (ctx, { id, status, reason }) => {
    const { workspace_id: workspaceId } = await find(ctx, id)
    await decideRequest(operatorIn(ctx, workspaceId), { id, status, reason })
    return { request: present(await find(ctx, id)) }
  },
}

async function find({ db }: Ctx, id: string): Promise<AnySsoRequestRow> {
  const [row] = await listRequestsOfAll(db, { before: null, limit: 1, status: null, id })
  if (row === undefined) throw refuse('not_found')
  return row
}

function present(row: AnySsoRequestRow) {
  const { workspace_id, slug, name, requested_by } = row
  return {
    ...presentRequest(row),
    workspace: { id: encodeId('workspace', workspace_id), slug, name },
    requested_by: encodeId('user', requested_by),
  }
}
