import { encodeId } from '@postroad/contract'
import { asSystem } from '../../as-system.ts'
import type { Deps } from '../../context.ts'
import { refuse } from '../../domain/refusal.ts'
import { inTransaction } from '../../transaction.ts'
import { audit } from '../audit/index.ts'
import { workspaceConfigChanged } from '../projects/index.ts'
import { moveDeliveries, type Tx } from './move-deliveries.ts'
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
 * it began. A workspace that is suspended already stays as it is, under its first reason.
 */
export function suspendWorkspace(deps: Deps, asked: { slug: string; reason: string }): Promise<Standing> {
  return inWorkspace(deps, asked.slug, async (tx, held) => {
    if (held.suspended_at !== null) return held
    const now = new Date(tx.clock.now())
    const row = await setSuspension(tx.db, { id: held.id, suspendedAt: now, reason: asked.reason })
    await moveDeliveries(tx, { halted: true, now })
    await audit(tx, { action: 'suspend_workspace', target: encodeId('workspace', held.id), details: { reason: asked.reason } })
    await workspaceConfigChanged(tx)
    return row
  })
}

/** What was paused is due at once; of a destination that is switched off it goes on waiting, for that reason. */
export function reinstateWorkspace(deps: Deps, asked: { slug: string }): Promise<Standing> {
  return inWorkspace(deps, asked.slug, async (tx, held) => {
    if (held.suspended_at === null) return held
    const row = await setSuspension(tx.db, { id: held.id, suspendedAt: null, reason: null })
    await moveDeliveries(tx, { halted: false, now: new Date(tx.clock.now()) })
    await audit(tx, { action: 'reinstate_workspace', target: encodeId('workspace', held.id) })
    await workspaceConfigChanged(tx)
    return row
  })
}

function inWorkspace(deps: Deps, slug: string, work: (tx: Tx, held: WorkspaceRow) => Promise<WorkspaceRow>): Promise<Standing> {
  return inTransaction(asSystem(deps, { workspaceId: '', projectId: '', requestId: 'command' }), async (tx) => {
    const held = await lockWorkspace(tx.db, slug)
    if (held === undefined) throw refuse('not_found', `There is no workspace "${slug}". "postroad workspaces list" shows those there are.`)
    return present(await work({ ...tx, workspaceId: held.id }, held))
  })
}

function present({ id, slug, name, plan, suspended_at, suspended_reason }: WorkspaceRow): Standing {
  return { id: encodeId('workspace', id), slug, name, plan, suspended_at: suspended_at?.toISOString() ?? null, suspended_reason }
}
