import { TABLES, type SealedColumn } from './tables.ts'

export type { SealedColumn } from './tables.ts'

/** Every column with sealed values, as the rooms say. */
export const SEALED_COLUMNS: readonly SealedColumn[] = Object.entries(TABLES).flatMap(([table, { sealed = [] }]) =>
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the tables and their columns are those of the type
  sealed.map((column) => `${table}.${column}` as SealedColumn),
)

/** The place of a sealed value: its additional data, so that it opens only in its own row and column. */
export function secretPlace(column: SealedColumn, rowId: string): string {
  return `${column}/${rowId}`
}
