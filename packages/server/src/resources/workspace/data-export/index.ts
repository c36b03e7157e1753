import { encodeId, LIMITS, type StoredFile } from '@postroad/contract'
import type { Ctx } from '../../../context.ts'
import { refuse } from '../../../domain/refusal.ts'
import { inTransaction } from '../../../transaction.ts'
import { audit } from '../audit/index.ts'
import { afterCursor, pageOf } from '../../page.ts'
import type { Room } from '../../verbs.ts'
import { lockWorkspaceById } from '../workspaces/index.ts'
import { CHUNK_BYTES } from './archive.ts'
import { FILES } from './contents.ts'
import { etagOf, presentExport, stateOf } from './present.ts'
import {
  countExports,
  deleteExport,
  findChunk,
  findExport,
  insertExport,
  listExports,
  type ExportRow,
} from './queries.ts'

export { createExporter } from './write.ts'

export const dataExport: Room<'dataExport'> = {
  list: async (ctx, { limit, cursor }) => {
    const found = await listExports(ctx.db, {
      workspaceId: ctx.workspaceId,
      before: afterCursor(cursor),
      limit: limit + 1,
    })
    const { rows, next_cursor } = pageOf(found, limit)
    return { data_exports: rows.map((row) => presentExport(row, ctx.clock.now())), next_cursor }
  },

  create: (ctx) =>
    inTransaction(ctx, async (tx) => {
      // Serializes concurrent requests, so that only one starts an export.
      await lockWorkspaceById(tx.db, tx.workspaceId)
      const now = tx.clock.now()
      const { underway, ready } = await countExports(tx.db, { workspaceId: tx.workspaceId, now: new Date(now) })
      if (underway > 0) throw refuse('export_running')
      if (ready >= LIMITS.dataExportsReadyMax) throw refuse('export_limit_reached')
      const requestedBy = 'userId' in tx.actor ? tx.actor.userId : null
      const row = await insertExport(tx.db, {
        ...tx,
        id: tx.uuid(),
        requestedBy,
        filesTotal: Object.keys(FILES).length,
        now: new Date(now),
      })
      await audit(tx, {
        action: 'create_data_export',
        target: encodeId('dataExport', row.id),
        change: { before: null, after: { state: stateOf(row, now) } },
      })
      return { data_export: presentExport(row, now) }
    }),

  get: async (ctx, { id }) => ({ data_export: presentExport(await exportOf(ctx, id), ctx.clock.now()) }),

  remove: (ctx, { id }) =>
    inTransaction(ctx, async (tx) => {
      const before = { state: stateOf(await exportOf(tx, id), tx.clock.now()) }
      if ((await deleteExport(tx.db, { ...tx, id, now: new Date(tx.clock.now()) })) === 0) throw refuse('not_found')
      await audit(tx, {
        action: 'delete_data_export',
        target: encodeId('dataExport', id),
        change: { before, after: null },
      })
      return { ok: true }
    }),

  download: async (ctx, { id }) => {
    const row = await exportOf(ctx, id)
    const state = stateOf(row, ctx.clock.now())
    if (state === 'expired') throw refuse('export_over')
    if (state !== 'ready' || row.sha256 === null)
      throw refuse('invalid_state', `This export is ${state}; only a ready export can be downloaded.`)
    return fileOf(ctx, { id, bytes: row.bytes, sha256: row.sha256 })
  },
}

async function exportOf({ db, workspaceId }: Ctx, id: string): Promise<ExportRow> {
  const row = await findExport(db, { workspaceId, id })
  if (row === undefined) throw refuse('not_found')
  return row
}

/** Reads piece by piece, as fast as the reader takes them, without a connection in between. */
function fileOf(
  { db, workspaceId }: Ctx,
  { id, bytes, sha256 }: { id: string; bytes: number; sha256: Buffer },
): StoredFile {
  return {
    bytes,
    etag: etagOf(sha256),
    read: async function* read({ from, to }) {
      for (let at = from; at < to;) {
        const number = Math.floor(at / CHUNK_BYTES)
        // oxlint-disable-next-line no-await-in-loop -- each piece is read after the reader took the previous one
        const chunk = await findChunk(db, { workspaceId, id, number })
        const begin = number * CHUNK_BYTES
        const part = chunk?.subarray(at - begin, to - begin)
        // The export was deleted during the read, so the download breaks off.
        if (part === undefined || part.length === 0) throw new Error('A piece of the export is missing.')
        yield part
        at += part.length
      }
    },
  }
}
