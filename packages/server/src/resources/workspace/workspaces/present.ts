import { encodeId, LIMITS } from '@postroad/contract'
import type { Ctx } from '../../../context.ts'
import { limitsOf } from '../../../domain/workspace/plan.ts'
import { countMembers, type OwnWorkspaceRow, type WorkspaceRow } from './queries.ts'

/** The workspace as its members see it. */
export async function presentWorkspace({ db, plans }: Pick<Ctx, 'db' | 'plans'>, row: WorkspaceRow) {
  const { id, slug, name, plan, suspended_at, suspended_reason, closed_at, created_at } = row
  return {
    id: encodeId('workspace', id),
    slug,
    name,
    plan,
    members: await countMembers(db, id),
    max_members: limitsOf(plans, plan).members,
    suspended: suspended_at !== null,
    suspended_reason,
    closed_at: closed_at?.toISOString() ?? null,
    deleted_after: closed_at === null ? null : new Date(closed_at.getTime() + LIMITS.workspaceGraceMs).toISOString(),
    created_at: created_at.toISOString(),
  }
}

/** One of a person's workspaces. */
export function presentOwn(row: OwnWorkspaceRow, { current }: { current: string }) {
  const { id, slug, name, role, suspended_at, closed_at, created_at } = row
  return {
    id: encodeId('workspace', id),
    slug,
    name,
    role,
    current: id === current,
    suspended: suspended_at !== null,
    closed_at: closed_at?.toISOString() ?? null,
    created_at: created_at.toISOString(),
  }
}
