import { encodeId, LIMITS } from '@postroad/contract'
import type { Ctx } from '../../../context.ts'
import { refuse } from '../../../domain/refusal.ts'
import { inTransaction } from '../../../transaction.ts'
import { getRecord } from '../../capture/records/index.ts'
import { afterCursor, pageOf } from '../../page.ts'
import type { Room } from '../../verbs.ts'
import { audit } from '../../workspace/audit/index.ts'
import { configChanged } from '../../workspace/projects/index.ts'
import { keepDeleted, putBack, type Snapshot } from '../../workspace/snapshots/index.ts'
import { cancelInstances, presentInstance, startInstance } from '../workflow-instances/index.ts'
import { dryRunWorkflow } from './dry-run.ts'
import {
  countWorkflows,
  deleteWorkflow,
  findWorkflow,
  findWorkflowVersion,
  listWorkflows,
  listWorkflowVersions,
  lockWorkflow,
  type VersionRow,
  type WorkflowRow,
} from './queries.ts'
import { createWorkflow, replaceDefinition } from './write.ts'

export { listWholeWorkflows } from './queries.ts'

const present = (row: WorkflowRow) => ({
  ...row,
  id: encodeId('workflow', row.id),
  created_at: row.created_at.toISOString(),
  updated_at: row.updated_at.toISOString(),
})

/** One workflow of the project, or 404. */
async function getWorkflow(ctx: Ctx, id: string): Promise<WorkflowRow> {
  const row = await findWorkflow(ctx.db, { ...ctx, id })
  if (row === undefined) throw refuse('not_found')
  return row
}

async function getVersion(ctx: Ctx, at: { readonly id: string; readonly version: number }): Promise<VersionRow> {
  const row = await findWorkflowVersion(ctx.db, { ...ctx, ...at })
  if (row === undefined) throw refuse('not_found')
  return row
}

/** A workflow with the steps of its newest version. */
async function presentWhole(ctx: Ctx, id: string) {
  const row = await getWorkflow(ctx, id)
  const { definition } = await getVersion(ctx, row)
  return { ...present(row), steps: definition.steps }
}

const replace: Room<'workflows'>['replace'] = async (ctx, input) => {
  await replaceDefinition(ctx, input)
  return { ok: true }
}

export const workflows: Room<'workflows'> = {
  list: async (ctx, { limit, cursor }) => {
    const found = await listWorkflows(ctx.db, { ...ctx, before: afterCursor(cursor), limit: limit + 1 })
    const { rows, next_cursor } = pageOf(found, limit)
    return { workflows: rows.map(present), next_cursor }
  },

  create: async (ctx, input) => ({ workflow: { ...present(await createWorkflow(ctx, input)), steps: input.steps } }),

  get: async (ctx, { id }) => ({ workflow: await presentWhole(ctx, id) }),

  replace,
  update: replace,

  remove: (ctx, { id }) =>
    inTransaction(ctx, async (tx) => {
      await configChanged(tx)
      const before = await presentWhole(tx, id)
      const deletion = await keepDeleted(tx, { kind: 'workflow', id, name: before.name })
      await deleteWorkflow(tx.db, { ...tx, id })
      const canceled = await cancelInstances(tx.db, { ...tx, workflowId: id, now: new Date(tx.clock.now()) })
      await audit(tx, {
        action: 'delete_workflow',
        target: encodeId('workflow', id),
        details: { name: before.name, deletion_id: deletion.id, cancelled_instances: canceled },
        change: { before, after: null },
      })
      return { ok: true, deletion }
    }),

  listVersions: async (ctx, { id, limit, cursor }) => {
    await getWorkflow(ctx, id)
    const rows = await listWorkflowVersions(ctx.db, { ...ctx, id, before: afterVersion(cursor), limit: limit + 1 })
    const page = rows.slice(0, limit)
    const last = page.at(-1)
    return {
      versions: page.map(({ version, created_at }) => ({ version, created_at: created_at.toISOString() })),
      next_cursor: rows.length > limit && last !== undefined ? String(last.version) : null,
    }
  },

  getVersion: async (ctx, at) => {
    const { version, created_at, definition } = await getVersion(ctx, at)
    return { version: { version, created_at: created_at.toISOString(), ...definition } }
  },

  run: (ctx, { id, record_id: recordId }) =>
    inTransaction(ctx, async (tx) => {
      const workflow = await lockWorkflow(tx.db, { ...tx, id })
      if (workflow === undefined) throw refuse('not_found')
      const { version } = workflow
      const { dataset, hops } = await getRecord(tx, recordId)
      const instance = await startInstance(tx, { workflowId: id, version, recordId, dataset, hops })
      await audit(tx, {
        action: 'run_workflow',
        target: encodeId('workflow', id),
        details: { instance_id: encodeId('workflowInstance', instance.id), record_id: encodeId('record', recordId) },
      })
      return { instance: presentInstance(instance) }
    }),

  dryRun: dryRunWorkflow,
}

/** Versions are numbered, so the cursor is the last number of the previous page. */
function afterVersion(cursor: string | undefined): number | null {
  if (cursor === undefined) return null
  if (!/^[1-9]\d{0,8}$/.test(cursor))
    throw refuse('invalid_request', 'The cursor is not valid; send next_cursor of the previous page unchanged.')
  return Number(cursor)
}

/** Puts a deleted workflow back. Instances that its deletion canceled stay so: their events may have passed. */
export async function putBackWorkflow(tx: Ctx, snapshot: Snapshot & { readonly id: string }) {
  // It also locks the project, so the count below is exact.
  await configChanged(tx)
  if ((await countWorkflows(tx.db, tx)) >= LIMITS.workflowsPerProjectMax) throw refuse('workflow_limit_reached')
  if (!(await putBack(tx, snapshot)))
    throw refuse('slug_taken', 'Another workflow now has this slug. Change that slug, then restore this one.')
  return presentWhole(tx, snapshot.id)
}
