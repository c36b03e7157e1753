import { byTable, lsnOf, tableText, type Key } from '../../../platform/foreign-databases/replication/index.ts'
import type { Values } from '../../../domain/sources/change-event.ts'

/** A row in the order in which rows are copied: by table, then by key. */
export type Point = { readonly schema: string; readonly table: string; readonly key: Key }

/** The copy of the rows after a point, up to the next part, as they were at `lsn`. Each interruption starts a new part. */
export type Part = { readonly after: Point | null; readonly lsn: string }

/** A change that a copied row may already contain. */
export type PlacedChange = {
  readonly lsn: bigint
  readonly schema: string
  readonly table: string
  readonly operation: string
  readonly row: Values | null
  readonly old: Values | null
}

/** The question to the database: which of these keys come after a point of the table? */
export type AskAfter = (of: { readonly point: Point; readonly keys: readonly Key[] }) => Promise<readonly boolean[]>

/** Adds a part that starts at `point`. It replaces a part at the same point, which copied no row. */
export function withPart(
  parts: readonly Part[],
  { point, lsn }: { readonly point: Point | null; readonly lsn: string },
): readonly Part[] {
  const isAt = ({ after }: Part): boolean => JSON.stringify(after) === JSON.stringify(point)
  return [...parts.filter((part) => !isAt(part)), { after: point, lsn }]
}

/** The position after which no copied row contains a change. */
export const containedUpTo = (parts: readonly Part[]): bigint =>
  parts.reduce((max, { lsn }) => (lsnOf(lsn) > max ? lsnOf(lsn) : max), 0n)

/**
 * Leaves out the changes that the copied rows contain, because they were committed before their row was copied. When a table
 * was truncated between two of its parts, all of its changes from then on stay in.
 */
export async function notContained<Change extends PlacedChange>(
  changes: readonly Change[],
  of: Asked<Change> & { readonly emptied: readonly string[] },
): Promise<{ readonly changes: readonly Change[]; readonly emptied: readonly string[] }> {
  const limit = containedUpTo(of.parts)
  const emptied = new Set(of.emptied)
  const covering = await coveringOf(
    changes.filter(({ lsn }) => lsn < limit),
    of,
  )
  const left = changes.filter((change) => {
    const name = tableText(change)
    if (change.lsn >= limit || emptied.has(name)) return true
    const lsns = covering.get(change) ?? []
    if (lsns.length === 0) return true
    if (lsns.every((lsn) => change.lsn < lsn)) return false
    if (change.operation === 'truncate') emptied.add(name)
    return true
  })
  return { changes: left, emptied: [...emptied] }
}

type Asked<Change> = {
  readonly parts: readonly Part[]
  readonly keyOf: (change: Change) => readonly Key[]
  readonly after: AskAfter
}

/** For each change, the positions at which the rows that it touches were copied. */
async function coveringOf<Change extends PlacedChange>(
  changes: readonly Change[],
  asked: Asked<Change>,
): Promise<ReadonlyMap<Change, readonly bigint[]>> {
  const groups = [...Map.groupBy(changes, tableText).values()]
  const covered = await Promise.all(groups.map((group) => coveringOfTable(group, asked)))
  return new Map(covered.flat())
}

async function coveringOfTable<Change extends PlacedChange>(
  changes: readonly Change[],
  { parts: all, keyOf, after }: Asked<Change>,
): Promise<readonly (readonly [Change, readonly bigint[]])[]> {
  const [first] = changes
  if (first === undefined) return []
  const base = all.findLast((part) => part.after === null || byTable(part.after, first) < 0)?.lsn ?? '0/0'
  const inner = all.flatMap(({ after: point, lsn }) =>
    point !== null && byTable(point, first) === 0 ? [{ point, lsn }] : [],
  )
  const rows = changes.flatMap((change) => keyOf(change).map((key) => ({ change, key })))
  const keys = rows.map(({ key }) => key)
  const later = keys.length === 0 ? [] : await Promise.all(inner.map(({ point }) => after({ point, keys })))
  const covered = rows.map(({ change }, n) => ({
    change,
    lsn: inner.findLast((_part, index) => later[index]?.[n] === true)?.lsn ?? base,
  }))
  const byChange = Map.groupBy(covered, ({ change }) => change)
  return changes.map((change) => {
    const parts = change.operation === 'truncate' ? [{ lsn: base }, ...inner] : (byChange.get(change) ?? [])
    return [change, parts.map(({ lsn }) => lsnOf(lsn))]
  })
}
