import { encodeId } from '@postroad/contract'
import type { Ctx } from '../../../context.ts'
import { refuse } from '../../../domain/refusal.ts'
import { inTransaction } from '../../../transaction.ts'
import { audit } from '../../workspace/audit/index.ts'
import { afterCursor, readPage } from '../../page.ts'
import type { Room } from '../../verbs.ts'
import { findWebhook } from '../webhooks/index.ts'
import {
  clearDefault,
  deleteRecordView,
  findOwner,
  findRecordView,
  insertRecordView,
  listRecordViews,
  updateRecordView,
  type RecordViewRow,
} from './queries.ts'

export { listViewsOfProject } from './of-project/queries.ts'
export { findOwner as findRecordViewOwner, findRecordView, type RecordViewRow }

/** Row → public shape. */
export const presentRecordView = (row: RecordViewRow) => ({
  ...row,
  id: encodeId('recordView', row.id),
  webhook_id: encodeId('webhook', row.webhook_id),
  created_at: row.created_at.toISOString(),
  updated_at: row.updated_at.toISOString(),
})

const nameTaken = () =>
  refuse('name_taken', 'This name is already in use among the views of this endpoint. Choose another.')

/** Serializes changes of one webhook's views, so that names stay unique and only one view is the default. */
async function lockWebhook(tx: Ctx, webhookId: string): Promise<void> {
  if ((await findWebhook(tx.db, { ...tx, id: webhookId, lock: true })) === undefined) throw refuse('not_found')
}

export const recordViews: Room<'recordViews'> = {
  list: async (ctx, { id: webhookId, limit, cursor }) => {
    if ((await findWebhook(ctx.db, { ...ctx, id: webhookId })) === undefined) throw refuse('not_found')
    const before = afterCursor(cursor)
    const { rows, next_cursor } = await readPage(ctx.db, {
      limit,
      list: (db, most) => listRecordViews(db, { ...ctx, webhookId, before, limit: most }),
    })
    return { views: rows.map(presentRecordView), next_cursor }
  },

  create: (ctx, { id: webhookId, ...view }) =>
    inTransaction(ctx, async (tx) => {
      await lockWebhook(tx, webhookId)
      const at = { ...tx, webhookId, now: new Date(tx.clock.now()) }
      if (view.is_default) await clearDefault(tx.db, at)
      const row = await insertRecordView(tx.db, { ...at, ...view, id: tx.uuid() })
      if (row === undefined) throw nameTaken()
      const details = { webhook: encodeId('webhook', webhookId), name: row.name }
      await audit(tx, {
        action: 'create_record_view',
        target: encodeId('recordView', row.id),
        details,
        change: { before: null, after: presentRecordView(row) },
      })
      return { view: presentRecordView(row) }
    }),

  get: async (ctx, { id: webhookId, view_id: id }) => {
    const row = await findRecordView(ctx.db, { ...ctx, webhookId, id })
    if (row === undefined) throw refuse('not_found')
    return { view: presentRecordView(row) }
  },

  update: (ctx, { id: webhookId, view_id: id, ...change }) =>
    inTransaction(ctx, async (tx) => {
      await lockWebhook(tx, webhookId)
      const at = { ...tx, webhookId, now: new Date(tx.clock.now()) }
      const held = await findRecordView(tx.db, { ...at, id })
      if (held === undefined) throw refuse('not_found')
      const given = Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined))
      if (change.is_default === true && !held.is_default) await clearDefault(tx.db, at)
      const row = await updateRecordView(tx.db, { ...at, ...held, ...given })
      if (row === undefined) throw nameTaken()
      await audit(tx, {
        action: 'update_record_view',
        target: encodeId('recordView', id),
        details: { changed: Object.keys(given) },
        change: { before: presentRecordView(held), after: presentRecordView(row) },
      })
      return { view: presentRecordView(row) }
    }),

  remove: (ctx, { id: webhookId, view_id: id }) =>
    inTransaction(ctx, async (tx) => {
      const held = await findRecordView(tx.db, { ...tx, webhookId, id })
      if (held === undefined || (await deleteRecordView(tx.db, { ...tx, webhookId, id })) === 0)
        throw refuse('not_found')
      await audit(tx, {
        action: 'delete_record_view',
        target: encodeId('recordView', id),
        change: { before: presentRecordView(held), after: null },
      })
      return { ok: true }
    }),
}
