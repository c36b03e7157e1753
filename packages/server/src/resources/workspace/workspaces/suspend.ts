import { encodeId } from '@postroad/contract'
import { asSystem } from '../../../as-system.ts'
import type { Deps } from '../../../context.ts'
import { refuse } from '../../../domain/refusal.ts'
import { inTransaction } from '../../../transaction.ts'
import { audit } from '../audit/index.ts'
import { workspaceConfigChanged } from '../projects/index.ts'
import { moveDeliveries, tellHalted, type Tx } from './move-deliveries.ts'
import { listWorkspaces, lockWorkspace, setSuspension, type WorkspaceRow } from './queries.ts'

/** A workspace as the operator sees it. */
export type Standing = {
  readonly id: string
  readonly slug: string
  readonly name: string
  readonly plan: string
  readonly suspended_at: string | null
  readonly suspended_reason: string | null
}

export async function listStandings(deps: Deps): Promise<readonly Standing[]> {
  return (await listWorkspaces(deps.database)).map(present)
}

/**
 * Contract part 1, suspension: from the commit on nothing is accepted and nothing more is sent; what is being sent ends as
 * it began, and its result counts. A workspace that is suspended already stays as it is, under its first reason.
 */
export async function suspendWorkspace(deps: Deps, asked: { slug: string; reason: string }): Promise<Standing> {
  const row = await inWorkspace(deps, asked.slug, async (tx, held) => {
    if (held.suspended_at !== null) return held
    const now = new Date(tx.clock.now())
    const suspended = await setSuspension(tx.db, { id: held.id, suspendedAt: now, reason: asked.reason })
    await tellHalted(tx)
    await audit(tx, {
      action: 'suspend_workspace',
      target: encodeId('workspace', held.id),
      details: { reason: asked.reason },
    })
    await workspaceConfigChanged(tx)
    return suspended
  })
  await moveDeliveries(asSystem(deps, NOWHERE), { workspaceId: row.id, halted: 'workspace_suspended' })
  return present(row)
}

/** What was paused is due at once; of a destination that is switched off it goes on waiting, for that reason. */
export async function reinstateWorkspace(deps: Deps, asked: { slug: string }): Promise<Standing> {
  const row = await inWorkspace(deps, asked.slug, async (tx, held) => {
    if (held.suspended_at === null) return held
    const reinstated = await setSuspension(tx.db, { id: held.id, suspendedAt: null, reason: null })
    await audit(tx, { action: 'reinstate_workspace', target: encodeId('workspace', held.id) })
    await workspaceConfigChanged(tx)
    return reinstated
  })
  await moveDeliveries(asSystem(deps, NOWHERE), { workspaceId: row.id, halted: null })
  return present(row)
}

const NOWHERE = { workspaceId: '', projectId: '', requestId: 'command' } as const

function inWorkspace(
  deps: Deps,
  slug: string,
  work: (tx: Tx, held: WorkspaceRow) => Promise<WorkspaceRow>,
): Promise<WorkspaceRow> {
  return inTransaction(asSystem(deps, NOWHERE), async (tx) => {
    const held = await lockWorkspace(tx.db, slug)
    if (held === undefined)
      throw refuse('not_found', `There is no workspace "${slug}". "postroad workspaces list" shows those there are.`)
    return work({ ...tx, workspaceId: held.id }, held)
  })
}

function present({ id, slug, name, plan, suspended_at, suspended_reason }: WorkspaceRow): Standing {
  return {
    id: encodeId('workspace', id),
    slug,
    name,
    plan,
    suspended_at: suspended_at?.toISOString() ?? null,
    suspended_reason,
  }
}
