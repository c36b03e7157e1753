import { encodeId } from '@postroad/contract'
import type { ExportRow } from './queries.ts'

/** An export is expired from its expiry on, even if its file is deleted a little later. */
export function stateOf({ state, expires_at }: ExportRow, now: number): ExportRow['state'] | 'expired' {
  return state === 'ready' && expires_at !== null && expires_at.getTime() <= now ? 'expired' : state
}

export const etagOf = (sha256: Buffer): string => `"${sha256.toString('hex')}"`

/** Row → public shape. */
export function presentExport(row: ExportRow, now: number) {
  const { sha256, files_done, files_total, rows_done, rows_total } = row
  const state = stateOf(row, now)
  return {
    id: encodeId('dataExport', row.id),
    state,
    requested_by: row.requested_by === null ? null : encodeId('user', row.requested_by),
    created_at: row.created_at.toISOString(),
    finished_at: row.finished_at?.toISOString() ?? null,
    expires_at: row.expires_at?.toISOString() ?? null,
    progress: { files_done, files_total, rows_done, rows_total, bytes_done: row.bytes },
    file:
      state === 'ready' && sha256 !== null
        ? { bytes: row.bytes, sha256: sha256.toString('hex'), etag: etagOf(sha256) }
        : null,
    error: row.error,
  }
}
