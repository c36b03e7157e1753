import type { SourceRow } from './queries.ts'

/** The part of a stored position about the copy of the rows that existed. The runner of the source writes it. */
export type StoredSnapshot = {
  readonly state: 'copying' | 'complete'
  readonly rows: number
  readonly tables: number | null
  readonly tables_done: number
  readonly point: { readonly schema: string; readonly table: string } | null
}

/** The copy of the rows that existed when the source started, as it is shown; null: it has none. */
export function shownSnapshot({ settings, position }: Pick<SourceRow, 'settings' | 'position'>) {
  if (settings.kind !== 'postgres_replication') return null
  if (position === null)
    return settings.snapshot ? { state: 'waiting' as const, rows: 0, table: null, tables_done: 0, tables: null } : null
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the runner of this kind wrote it
  const { snapshot = null } = position as { readonly snapshot?: StoredSnapshot | null }
  if (snapshot === null) return null
  const { state, rows, tables, tables_done, point } = snapshot
  return { state, rows, table: point === null ? null : `${point.schema}.${point.table}`, tables_done, tables }
}
