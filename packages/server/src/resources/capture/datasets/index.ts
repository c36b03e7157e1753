import { encodeId, LIMITS } from '@postroad/contract'
import type { Ctx } from '../../../context.ts'
import { refuse } from '../../../domain/refusal.ts'
import { inTransaction } from '../../../transaction.ts'
import { audit } from '../../workspace/audit/index.ts'
import { afterCursor, pageOf } from '../../page.ts'
import { configChanged } from '../../workspace/projects/index.ts'
import type { Room } from '../../verbs.ts'
import {
  deleteDataset,
  findDataset,
  lockDatasets,
  insertDataset,
  listDatasetNames,
  listDatasets,
  updateDataset,
  type DatasetRow,
} from './queries.ts'

const present = (row: DatasetRow) => ({
  id: encodeId('dataset', row.id),
  name: row.name,
  description: row.description,
  retention_days: row.retention_days,
  last_record_at: row.last_record_at?.toISOString() ?? null,
  created_at: row.created_at.toISOString(),
})

export { findDataset, findDatasetNamed } from './queries.ts'

export const datasets: Room<'datasets'> = {
  list: async (ctx, { limit, cursor }) => {
    const found = await listDatasets(ctx.db, { ...ctx, before: afterCursor(cursor), limit: limit + 1 })
    const { rows, next_cursor } = pageOf(found, limit)
    return { datasets: rows.map(present), next_cursor }
  },

  create: (ctx, { name, description, retention_days }) =>
    inTransaction(ctx, async (tx) => {
      await lockDatasets(tx.db, [tx.projectId])
      if ((await listDatasetNames(tx.db, tx)).length >= LIMITS.datasetsPerProjectMax)
        throw refuse('dataset_limit_reached')
      const id = tx.uuid()
      const made = { ...tx, id, name, description, retention_days, now: new Date(tx.clock.now()) }
      if ((await insertDataset(tx.db, made)) === 0) throw refuse('name_taken')
      const after = present(await datasetOf(tx, id))
      await audit(tx, {
        action: 'create_dataset',
        target: encodeId('dataset', id),
        details: { name },
        change: { before: null, after },
      })
      await configChanged(tx)
      return { dataset: after }
    }),

  get: async (ctx, { id }) => ({ dataset: present(await datasetOf(ctx, id)) }),

  update: (ctx, { id, description, retention_days }) =>
    inTransaction(ctx, async (tx) => {
      const before = present(await datasetOf(tx, id))
      if ((await updateDataset(tx.db, { ...tx, id, description, retention_days })) === 0) throw refuse('not_found')
      const details = retention_days === undefined ? {} : { retention_days }
      const after = present(await datasetOf(tx, id))
      await audit(tx, {
        action: 'update_dataset',
        target: encodeId('dataset', id),
        details,
        change: { before, after },
      })
      return { dataset: after }
    }),

  remove: (ctx, { id }) =>
    inTransaction(ctx, async (tx) => {
      const before = present(await datasetOf(tx, id))
      const name = await deleteDataset(tx.db, { ...tx, id, before: tx.uuid(), now: new Date(tx.clock.now()) })
      if (name === undefined) throw refuse('not_found')
      await audit(tx, {
        action: 'delete_dataset',
        target: encodeId('dataset', id),
        details: { name },
        change: { before, after: null },
      })
      await configChanged(tx)
      return { ok: true }
    }),
}

async function datasetOf(ctx: Ctx, id: string): Promise<DatasetRow> {
  const row = await findDataset(ctx.db, { ...ctx, id })
  if (row === undefined) throw refuse('not_found')
  return row
}
