import { encodeId } from '@postroad/contract'
import type { Ctx } from '../../../context.ts'
import { refuse } from '../../../domain/refusal.ts'
import { inTransaction } from '../../../transaction.ts'
import { audit } from '../audit/index.ts'
import { deleteCredentialsOfProject } from '../../capture/credentials/index.ts'
import { lanesChanged, listLanesOfProject } from '../../delivery/lanes/index.ts'
import { insertUnderFreeSlug } from '../../free-slug.ts'
import { afterCursor, pageOf } from '../../page.ts'
import { deleteRejectionsOfProject } from '../../capture/rejections/index.ts'
import type { Room } from '../../verbs.ts'
import {
  bumpConfig,
  bumpConfigOfAll,
  deleteProject,
  findDefaultProject,
  findProject,
  insertProject,
  listProjectIds,
  listProjects,
  lockProject,
  renameProject,
  type ProjectRow,
} from './queries.ts'

export { findDefaultProject, findProject, insertProject, listProjectIds, lockProject }

const present = (row: ProjectRow) => ({
  id: encodeId('project', row.id),
  slug: row.slug,
  name: row.name,
  is_default: row.is_default,
  created_at: row.created_at.toISOString(),
  updated_at: row.updated_at.toISOString(),
})

/** Call it after every change that the ingest path must know. This node learns it immediately, others in a second. */
export async function configChanged(tx: Ctx): Promise<void> {
  await bumpConfig(tx.db, { ...tx, now: new Date(tx.clock.now()) })
  tx.afterCommit?.(() => tx.configChanged(tx.projectId))
}

/** Like `configChanged`, for all projects of the workspace. */
export async function workspaceConfigChanged(tx: Ctx): Promise<void> {
  const changed = await bumpConfigOfAll(tx.db, { workspaceId: tx.workspaceId, now: new Date(tx.clock.now()) })
  tx.afterCommit?.(() => {
    for (const { id } of changed) tx.configChanged(id)
  })
}

export const projects: Room<'projects'> = {
  list: async (ctx, { limit, cursor }) => {
    const found = await listProjects(ctx.db, { ...ctx, before: afterCursor(cursor), limit: limit + 1 })
    const { rows, next_cursor } = pageOf(found, limit)
    return { projects: rows.map(present), next_cursor }
  },

  create: (ctx, { name, slug }) =>
    inTransaction(ctx, async (tx) => {
      const id = tx.uuid()
      const now = new Date(tx.clock.now())
      const row = await insertUnderFreeSlug(tx, {
        slug,
        name,
        fallback: 'project',
        insert: (free) => insertProject(tx.db, { ...tx, id, slug: free, name, isDefault: false, now }),
        taken: 'This slug is already in use in this workspace. Choose another.',
      })
      await audit(tx, {
        action: 'create_project',
        target: encodeId('project', id),
        details: { name },
        change: { before: null, after: present(row) },
      })
      return { project: present(row) }
    }),

  get: async (ctx, { id }) => {
    const row = await findProject(ctx.db, { ...ctx, projectId: id })
    if (row === undefined) throw refuse('not_found')
    return { project: present(row) }
  },

  update: (ctx, { id, name }) =>
    inTransaction(ctx, async (tx) => {
      await lockProject(tx.db, { ...tx, projectId: id })
      const held = await findProject(tx.db, { ...tx, projectId: id })
      const row = await renameProject(tx.db, { ...tx, projectId: id, name, now: new Date(tx.clock.now()) })
      if (held === undefined || row === undefined) throw refuse('not_found')
      await audit(tx, {
        action: 'update_project',
        target: encodeId('project', id),
        details: { name },
        change: { before: present(held), after: present(row) },
      })
      return { project: present(row) }
    }),

  remove: (ctx, { id }) =>
    inTransaction(ctx, async (tx) => {
      const row = await findProject(tx.db, { ...tx, projectId: id })
      if (row === undefined) throw refuse('not_found')
      if (row.is_default) throw refuse('default_project')
      await deleteCredentialsOfProject(tx.db, { ...tx, projectId: id })
      await deleteRejectionsOfProject(tx.db, { ...tx, projectId: id })
      await deleteProject(tx.db, { ...tx, projectId: id, now: new Date(tx.clock.now()) })
      const lanes = await listLanesOfProject(tx.db, { ...tx, projectId: id })
      tx.afterCommit(() => {
        tx.configChanged(id)
        // Requests under way are cut off: nobody may see what a receiver of a deleted project answers.
        lanesChanged(tx, { lanes, disabled: true, deleted: true })
      })
      await audit(tx, {
        action: 'delete_project',
        target: encodeId('project', id),
        details: { name: row.name },
        change: { before: present(row), after: null },
      })
      return { ok: true }
    }),
}
