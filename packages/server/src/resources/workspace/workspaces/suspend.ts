import { encodeId } from '@postroad/contract'
import { asSystem } from '../../../as-system.ts'
import type { Ctx, Deps } from '../../../context.ts'
import type { EmailText } from '../../../domain/people/email-text.ts'
import { refuse } from '../../../domain/refusal.ts'
import type { Db } from '../../../platform/db.ts'
import { inTransaction } from '../../../transaction.ts'
import { setRunsPaused } from '../../automation/ai-runs/index.ts'
import { haltInstances, resumeInstances } from '../../automation/workflow-instances/pauses/index.ts'
import { findPlatformSettings } from '../../operate/platform-settings/index.ts'
import { notifyManagers } from '../../people/notices/index.ts'
import { audit } from '../audit/index.ts'
import { workspaceConfigChanged } from '../projects/index.ts'
import { moveDeliveries, notifyLanesDisabled, type Tx } from './move-deliveries.ts'
import {
  lockWorkspaceById,
  listWorkspaces,
  lockWorkspace,
  setPlan,
  setSuspension,
  type WorkspaceRow,
} from './queries.ts'

/** A workspace as the operator's commands show it. */
export type WorkspaceStatus = {
  readonly id: string
  readonly slug: string
  readonly name: string
  readonly plan: string
  readonly suspended_at: string | null
  readonly suspended_reason: string | null
}

export async function listWorkspaceStatuses(deps: Deps): Promise<readonly WorkspaceStatus[]> {
  return (await listWorkspaces(deps.database)).map(present)
}

/** Suspends a workspace by the operator's command, on the machine of the server. */
export async function suspendWorkspace(deps: Deps, asked: { slug: string; reason: string }): Promise<WorkspaceStatus> {
  return present(await suspend(asCommand(deps), { lock: bySlug(asked.slug), reason: asked.reason }))
}

export async function reinstateWorkspace(deps: Deps, asked: { slug: string }): Promise<WorkspaceStatus> {
  return present(await reinstate(asCommand(deps), bySlug(asked.slug)))
}

/** Suspends a workspace by an operator's request: `ctx` names the operator and the workspace. */
export async function suspendWorkspaceById(ctx: Ctx, { reason }: { reason: string }): Promise<void> {
  await suspend(ctx, { lock: byId(ctx.workspaceId), reason })
}

export async function reinstateWorkspaceById(ctx: Ctx): Promise<void> {
  await reinstate(ctx, byId(ctx.workspaceId))
}

/** Applies the limits of another plan, on every node within a second. A loop releases deliveries that now have room. */
export async function changePlan(ctx: Ctx, plan: string): Promise<void> {
  await inWorkspace(ctx, byId(ctx.workspaceId), async (tx, held) => {
    if (held.plan === plan) return held
    const changed = await setPlan(tx.db, { id: held.id, plan })
    await audit(tx, {
      action: 'set_plan',
      target: encodeId('workspace', held.id),
      details: { plan, previous: held.plan },
    })
    await workspaceConfigChanged(tx)
    return changed
  })
}

type Lock = (db: Db) => Promise<WorkspaceRow>

/**
 * Contract part 1, suspension: from the commit on, nothing is accepted and no further attempt starts. Attempts in progress end
 * normally, and their results count. A workspace that is already suspended stays as it is, with its first reason.
 */
async function suspend(ctx: Ctx, { lock, reason }: { lock: Lock; reason: string }): Promise<WorkspaceRow> {
  const row = await inWorkspace(ctx, lock, async (tx, held) => {
    if (held.suspended_at !== null) return held
    const now = new Date(tx.clock.now())
    const suspended = await setSuspension(tx.db, { id: held.id, suspendedAt: now, reason })
    await notifyLanesDisabled(tx)
    await setRunsPaused(tx.db, { workspaceId: held.id, pausedAt: now })
    await haltInstances(tx.db, { workspaceId: held.id, now })
    await audit(tx, {
      action: 'suspend_workspace',
      target: encodeId('workspace', held.id),
      details: { reason },
    })
    const { support_contact: contact } = await findPlatformSettings(tx.db)
    await notify(tx, { kind: 'workspace_suspended', message: suspendedEmail(held, { reason, contact }) })
    await workspaceConfigChanged(tx)
    return suspended
  })
  await moveOnce(ctx, { workspaceId: row.id, reason: 'workspace_suspended' })
  return row
}

/** Makes paused deliveries due immediately. Those of a destination that is off stay paused, for that reason. */
async function reinstate(ctx: Ctx, lock: Lock): Promise<WorkspaceRow> {
  const row = await inWorkspace(ctx, lock, async (tx, held) => {
    if (held.suspended_at === null) return held
    const reinstated = await setSuspension(tx.db, { id: held.id, suspendedAt: null, reason: null })
    if (held.closed_at === null) await setRunsPaused(tx.db, { workspaceId: held.id, pausedAt: null })
    await resumeInstances(tx.db, { workspaceId: held.id, now: new Date(tx.clock.now()) })
    await audit(tx, { action: 'reinstate_workspace', target: encodeId('workspace', held.id) })
    await notify(tx, { kind: 'workspace_reinstated', message: reinstatedEmail(held) })
    await workspaceConfigChanged(tx)
    return reinstated
  })
  await moveOnce(ctx, { workspaceId: row.id, reason: null })
  return row
}

/** Under an Idempotency-Key, the commit comes later, and before it there is nothing to move. */
async function moveOnce(ctx: Ctx, to: Parameters<typeof moveDeliveries>[1]): Promise<void> {
  if (ctx.afterCommit === undefined) {
    await moveDeliveries(ctx, to)
    return
  }
  ctx.afterCommit(() => {
    // The sweeps of the senders move the rest.
    void moveDeliveries(ctx, to).catch((cause: unknown) => ctx.log.warn('deliveries.not_moved', { cause }))
  })
}

const asCommand = (deps: Deps): Ctx => asSystem(deps, { workspaceId: '', projectId: '', requestId: 'command' })

const bySlug =
  (slug: string): Lock =>
  async (db) => {
    const held = await lockWorkspace(db, slug)
    if (held === undefined)
      throw refuse('not_found', `There is no workspace "${slug}". "postroad workspaces list" lists them.`)
    return held
  }

const byId =
  (id: string): Lock =>
  async (db) => {
    const held = await lockWorkspaceById(db, id)
    if (held === undefined) throw refuse('not_found')
    return held
  }

// oxlint-disable-next-line max-params -- the context, the workspace, and the work in it
function inWorkspace(
  ctx: Ctx,
  lock: Lock,
  work: (tx: Tx, held: WorkspaceRow) => Promise<WorkspaceRow>,
): Promise<WorkspaceRow> {
  return inTransaction(ctx, async (tx) => {
    const held = await lock(tx.db)
    return work({ ...tx, workspaceId: held.id }, held)
  })
}

const USEFUL_MS = 7 * 86_400_000

function notify(tx: Tx, of: { kind: string; message: EmailText }): Promise<void> {
  return notifyManagers(tx, { ...of, usefulMs: USEFUL_MS })
}

function suspendedEmail({ name }: WorkspaceRow, of: { reason: string; contact: string | null }): EmailText {
  return {
    subject: `The workspace ${name} is suspended`,
    lines: [
      `The operator suspended the workspace ${name}. Reason: ${of.reason}`,
      'The workspace accepts no events, sends no deliveries and refuses changes. Its data stays, and you can read it. The server sends what waits once the operator reinstates the workspace.',
      ...(of.contact === null ? [] : [`Contact: ${of.contact}`]),
    ],
  }
}

function reinstatedEmail({ name }: WorkspaceRow): EmailText {
  return {
    subject: `The workspace ${name} is active again`,
    lines: [`The operator reinstated the workspace ${name}. It accepts events again and sends what waited.`],
  }
}

function present({ id, slug, name, plan, suspended_at, suspended_reason }: WorkspaceRow): WorkspaceStatus {
  return {
    id: encodeId('workspace', id),
    slug,
    name,
    plan,
    suspended_at: suspended_at?.toISOString() ?? null,
    suspended_reason,
  }
}
