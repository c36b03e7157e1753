import { encodeId, LIMITS } from '@postroad/contract'
import { refuse } from '../../../domain/refusal.ts'
import { inTransaction } from '../../../transaction.ts'
import { audit } from '../../workspace/audit/index.ts'
import { afterCursor, pageOf } from '../../page.ts'
import { configChanged } from '../../workspace/projects/index.ts'
import type { Room } from '../../verbs.ts'
import {
  describeDataset,
  findDataset,
  lockDatasets,
  insertDataset,
  listDatasetNames,
  listDatasets,
  type DatasetRow,
} from './queries.ts'

const present = (row: DatasetRow) => ({
  id: encodeId('dataset', row.id),
  name: row.name,
  description: row.description,
  created_at: row.created_at.toISOString(),
})

export const datasets: Room<'datasets'> = {
  list: async (ctx, { limit, cursor }) => {
    const found = await listDatasets(ctx.db, { ...ctx, before: afterCursor(cursor), limit: limit + 1 })
    const { rows, next_cursor } = pageOf(found, limit)
    return { datasets: rows.map(present), next_cursor }
  },

  create: (ctx, { name, description }) =>
    inTransaction(ctx, async (tx) => {
      await lockDatasets(tx.db, [tx.projectId])
      if ((await listDatasetNames(tx.db, tx)).length >= LIMITS.datasetsPerProjectMax)
        throw refuse('dataset_limit_reached')
      const row = await insertDataset(tx.db, { ...tx, id: tx.uuid(), name, description, now: new Date(tx.clock.now()) })
      if (row === undefined) throw refuse('name_taken')
      await audit(tx, { action: 'create_dataset', target: encodeId('dataset', row.id), details: { name } })
      await configChanged(tx)
      return { dataset: present(row) }
    }),

  get: async (ctx, { id }) => {
    const row = await findDataset(ctx.db, { ...ctx, id })
    if (row === undefined) throw refuse('not_found')
    return { dataset: present(row) }
  },

  update: (ctx, { id, description }) =>
    inTransaction(ctx, async (tx) => {
      const row = await describeDataset(tx.db, { ...tx, id, description })
      if (row === undefined) throw refuse('not_found')
      await audit(tx, { action: 'update_dataset', target: encodeId('dataset', id) })
      return { dataset: present(row) }
    }),
}
