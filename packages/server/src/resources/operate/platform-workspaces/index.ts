import { decodeId } from '@postroad/contract'
import { asSystem } from '../../../as-system.ts'
import type { Ctx, Deps } from '../../../context.ts'
import { checkPlan } from '../../../domain/workspace/plan.ts'
import { monthOf } from '../../../domain/workspace/month.ts'
import { refuse } from '../../../domain/refusal.ts'
import { afterCursor, pageOf } from '../../page.ts'
import type { Room } from '../../verbs.ts'
import { clearNetwork } from '../../workspace/network/index.ts'
import {
  changePlan,
  listWorkspaceStatuses,
  reinstateWorkspaceById,
  suspendWorkspaceById,
} from '../../workspace/workspaces/index.ts'
import { operatorIn } from '../operators/index.ts'
import { presentAll } from './present.ts'
import { listPlatform } from './queries.ts'

/** The operators' view of all workspaces, and their changes to one. The audit log of that workspace has each change. */
export const platformWorkspaces: Room<'platformWorkspaces'> = {
  list: async (ctx, { limit, cursor, q, state }) => {
    const found = await listPlatform(ctx.db, {
      id: null,
      before: afterCursor(cursor),
      q: q === undefined || q === '' ? null : q,
      state: state ?? null,
      month: monthOf(ctx.clock.now()),
      limit: limit + 1,
    })
    const { rows, next_cursor } = pageOf(found, limit)
    return { workspaces: await presentAll(ctx, rows), next_cursor }
  },

  get: async (ctx, { id }) => ({ workspace: await describeWorkspace(ctx, id) }),

  suspend: async (ctx, { id, reason }) => {
    await suspendWorkspaceById(operatorIn(ctx, id), { reason })
    return { workspace: await describeWorkspace(ctx, id) }
  },

  reinstate: async (ctx, { id }) => {
    await reinstateWorkspaceById(operatorIn(ctx, id))
    return { workspace: await describeWorkspace(ctx, id) }
  },

  setPlan: async (ctx, { id, plan }) => {
    checkPlan(ctx.plans, plan, 'plan')
    await changePlan(operatorIn(ctx, id), plan)
    return { workspace: await describeWorkspace(ctx, id) }
  },

  clearNetwork: async (ctx, { id }) => {
    await describeWorkspace(ctx, id)
    await clearNetwork(operatorIn(ctx, id))
    return { workspace: await describeWorkspace(ctx, id) }
  },
}

/** For the operator's command, when a workspace has locked its members out. Returns the slug. */
export async function clearNetworkOf(deps: Deps, { slug }: { slug: string }): Promise<string> {
  const ctx = asSystem(deps, { workspaceId: '', projectId: '', requestId: 'command' })
  const found = (await listWorkspaceStatuses(deps)).find((one) => one.slug === slug)
  const workspaceId = decodeId('workspace', found?.id ?? '')
  if (workspaceId === undefined)
    throw refuse('not_found', `There is no workspace "${slug}". "postroad workspaces list" lists them.`)
  await clearNetwork({ ...ctx, workspaceId })
  return slug
}

/** A workspace with its plan and usage, as operators see it. */
export async function describeWorkspace(ctx: Ctx, id: string) {
  const at = { before: null, q: null, state: null, month: monthOf(ctx.clock.now()), limit: 1 }
  const [workspace] = await presentAll(ctx, await listPlatform(ctx.db, { ...at, id }))
  if (workspace === undefined) throw refuse('not_found')
  return workspace
}
