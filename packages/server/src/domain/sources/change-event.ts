import type { ChangeOperation } from '@postroad/contract'
import { valueJson } from './postgres-json.ts'

/** The values of a row by column, as text. `undefined`: PostgreSQL did not send it. */
export type Values = Readonly<Record<string, string | null | undefined>>
export type Column = { readonly name: string; readonly typeOid: number }

/** One change of a row, as the replication of PostgreSQL reports it, or a row that existed when the source started. */
export type Change = {
  readonly operation: ChangeOperation | 'snapshot'
  readonly schema: string
  readonly table: string
  readonly columns: readonly Column[]
  /** After the change; null: the row is gone. */
  readonly row: Values | null
  /** Before the change: the whole row, or its key, or null when PostgreSQL did not send it. */
  readonly old: Values | null
  /** The commit of its transaction, and its place there. */
  readonly lsn: string
  readonly index: number
  /** Microseconds since 1970. */
  readonly committedAt: bigint
}

/** The payload of a change. Its members are the same for every operation. */
export function changeJson(change: Change): string {
  const { columns, row, old } = change
  const unchanged = row === null ? [] : columns.filter(({ name }) => row[name] === undefined).map(({ name }) => name)
  const members = [
    `"operation":${JSON.stringify(change.operation)}`,
    `"schema":${JSON.stringify(change.schema)}`,
    `"table":${JSON.stringify(change.table)}`,
    `"row":${rowJson(row, columns)}`,
    `"old":${rowJson(old, columns)}`,
    `"unchanged":${JSON.stringify(unchanged)}`,
    `"lsn":${JSON.stringify(change.lsn)}`,
    `"index":${change.index}`,
    `"committed_at":${JSON.stringify(timeText(change.committedAt))}`,
  ]
  return `{${members.join(',')}}`
}

function rowJson(values: Values | null, columns: readonly Column[]): string {
  if (values === null) return 'null'
  const members = columns.flatMap(({ name, typeOid }) => {
    const value = values[name]
    return value === undefined ? [] : [`${JSON.stringify(name)}:${valueJson(value, typeOid)}`]
  })
  return `{${members.join(',')}}`
}

const MICROS = 1_000n

/** RFC 3339 with microseconds. */
function timeText(micros: bigint): string {
  const text = new Date(Number(micros / MICROS)).toISOString()
  return `${text.slice(0, -1)}${String(micros % MICROS).padStart(3, '0')}Z`
}
