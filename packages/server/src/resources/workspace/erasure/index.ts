import { encodeId, LIMITS, type IdKind } from '@postroad/contract'
import { asSystem } from '../../../as-system.ts'
import type { Ctx, Deps } from '../../../context.ts'
import type { Db } from '../../../platform/db.ts'
import { SeparateRows, type LoopWork } from '../../../platform/separate-rows.ts'
import { inTransaction } from '../../../transaction.ts'
import { audit } from '../audit/index.ts'
import {
  eraseAccess,
  eraseDeliveries,
  eraseDestinations,
  eraseRows,
  eraseWorkspace,
  listTenantTables,
  nextClosedWorkspace,
  nextDeletedProject,
  nextProjectOf,
  setEmptied,
  tryLockErasure,
  type DoomedProject,
  type TenantTable,
} from './queries.ts'

export { retainedFrom } from './queries.ts'

/** Longer than any work that started before the deletion can take. */
const SETTLED_MS = 3_600_000
const ROWS_AT_ONCE = 1_000
/** A lower number than for other rows, because each delivery has up to a hundred attempts. */
const DELIVERIES_AT_ONCE = 100
/** Bounds one run, so that a process stops soon when asked. The next run continues. */
const STEPS_MAX = 100

/**
 * Erases the contents of deleted projects, and workspaces whose grace period has ended, in small pieces with a commit for each. If a process
 * dies, the next run of any process continues. The audit log stays; its room prunes it. Counts pieces.
 */
export async function eraseEnded(deps: Deps): Promise<LoopWork> {
  const tables = await listTenantTables(deps.database)
  const run = { tables, rows: new SeparateRows(deps.retryLog, 'erasure.not_done') }
  let steps = 0
  // oxlint-disable-next-line no-await-in-loop -- one piece after another
  while (steps < STEPS_MAX && (await nextPiece(deps, run))) steps += 1
  return { rows: steps - run.rows.failed.length, failed: run.rows.failed.length }
}

type Run = { readonly tables: readonly TenantTable[]; readonly rows: SeparateRows }
type Found = { kind: IdKind; id: string } | undefined

/** One piece of the next work; false when there is none, or another process is doing it. */
async function nextPiece(deps: Deps, run: Run): Promise<boolean> {
  const ctx = asSystem(deps, { workspaceId: '', projectId: '', requestId: 'erasure' })
  let found: Found
  try {
    // oxlint-disable-next-line house/verb-guards -- the deletion was audited; only the end of a workspace is audited again
    return await inTransaction(ctx, (tx) =>
      step(tx, {
        ...run,
        find: (row) => {
          found = row
        },
      }),
    )
  } catch (cause) {
    if (found === undefined) throw cause
    run.rows.leaveOut(found, cause)
    return true
  }
}

async function step(tx: Ctx, { tables, rows, find }: Run & { find: (row: Found) => void }): Promise<boolean> {
  if (!(await tryLockErasure(tx.db))) return false
  const now = tx.clock.now()
  const without = rows.failed
  const project = await nextDeletedProject(tx.db, { before: new Date(now - SETTLED_MS), without })
  if (project !== undefined) {
    find({ kind: 'project', id: project.id })
    return emptyProject(tx, { project, tables })
  }
  const workspace = await nextClosedWorkspace(tx.db, { before: new Date(now - LIMITS.workspaceGraceMs), without })
  if (workspace === undefined) return false
  find({ kind: 'workspace', id: workspace.id })
  return eraseClosed(tx, { workspace, tables })
}

/**
 * A row is erased before the rows that it refers to, so that every commit follows the invariants of the doctor: deliveries, destinations,
 * records, then the rest.
 */
async function emptyProject(
  tx: Ctx,
  { project, tables }: { project: DoomedProject; tables: readonly TenantTable[] },
): Promise<boolean> {
  const at = { workspaceId: project.workspace_id, projectId: project.id }
  if ((await eraseDeliveries(tx.db, { ...at, limit: DELIVERIES_AT_ONCE })) > 0) return true
  if ((await eraseDestinations(tx.db, { ...at, limit: ROWS_AT_ONCE })) > 0) return true
  const inside = tables.filter(({ key }) => key[1] === 'project_id')
  const records = inside.filter(({ name }) => name === 'records')
  for (const table of [...records, ...inside]) {
    // oxlint-disable-next-line no-await-in-loop -- one piece at a time
    if ((await eraseRows(tx.db, table, { ...at, limit: ROWS_AT_ONCE })) > 0) return true
  }
  await setEmptied(tx.db, { ...at, now: new Date(tx.clock.now()) })
  return true
}

/** The audit log outlives its workspace: its room retains it for a while. */
const AUDIT_LOG: ReadonlySet<string> = new Set(['audit_rows', 'audit_anchors'])

/** Ends the access first, then erases the contents of the projects, then the rest, and the workspace itself last. */
async function eraseClosed(
  tx: Ctx,
  { workspace, tables }: { workspace: { id: string; slug: string }; tables: readonly TenantTable[] },
): Promise<boolean> {
  const workspaceId = workspace.id
  if ((await eraseAccess(tx.db, workspaceId)) > 0) return true
  const project = await nextProjectOf(tx.db, workspaceId)
  if (project !== undefined) return emptyProject(tx, { project, tables })
  if (await eraseRest(tx.db, { workspaceId, tables })) return true
  const projects = await eraseWorkspace(tx.db, workspaceId)
  tx.afterCommit?.(() => {
    for (const { id } of projects) tx.configChanged(id)
    tx.log.info('workspace.erased', { workspace: encodeId('workspace', workspaceId) })
  })
  await audit({ ...tx, workspaceId }, { action: 'delete_workspace', target: encodeId('workspace', workspaceId) })
  return true
}

async function eraseRest(
  db: Db,
  { workspaceId, tables }: { workspaceId: string; tables: readonly TenantTable[] },
): Promise<boolean> {
  for (const table of tables) {
    if (table.name === 'projects' || AUDIT_LOG.has(table.name)) continue
    // oxlint-disable-next-line no-await-in-loop -- one piece at a time
    if ((await eraseRows(db, table, { workspaceId, projectId: null, limit: ROWS_AT_ONCE })) > 0) return true
  }
  return false
}
