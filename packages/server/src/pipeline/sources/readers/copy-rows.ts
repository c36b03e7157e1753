import { LIMITS } from '@postroad/contract'
import type { Deps } from '../../../context.ts'
import { changeJson } from '../../../domain/sources/change-event.ts'
import {
  byTable,
  keysAfter,
  keysOfTables,
  lsnOf,
  lsnText,
  openSnapshot,
  tableText,
  type Key,
  type ReplicationPlan,
  type Snapshot,
} from '../../../platform/foreign-databases/replication/index.ts'
import { ForeignFailure } from '../../../platform/foreign-failure.ts'
import type { StoredUpTo } from './change-buffer.ts'
import { containedUpTo, notContained, withPart, type Part, type PlacedChange, type Point } from './copied-parts.ts'

/** The progress of the copy of existing rows. One commit stores it, in the position, with the rows. */
export type SnapshotProgress = {
  readonly state: 'copying' | 'complete'
  readonly rows: number
  readonly tables: number | null
  readonly tables_done: number
  /** The last row that is stored; null: none. */
  readonly point: Point | null
  /** Empty once the replication has passed all of them. */
  readonly parts: readonly Part[]
  /** Tables that were truncated between two of their parts. */
  readonly emptied: readonly string[]
}

export const NOT_COPIED: SnapshotProgress = {
  state: 'copying',
  rows: 0,
  tables: null,
  tables_done: 0,
  point: null,
  parts: [],
  emptied: [],
}

/** The position of a replication: the last change that it stored, and the progress of its copy. */
export type ReplicationPlace = { readonly upTo: StoredUpTo; readonly progress: SnapshotProgress | null }

/** Items that one commit stores, and the position after them. */
export type ReplicationRead = ReplicationPlace & { readonly items: readonly (string | null)[] }

type Of = { readonly plan: ReplicationPlan; readonly signal: AbortSignal }

/**
 * Copies the existing rows page by page, all as they are at one position of the WAL. That position is gone after an
 * interruption, so the rest is copied at a newer one, which the parts record.
 */
export async function* copyRows(
  { reach }: Pick<Deps, 'reach'>,
  {
    plan,
    from,
    rowBytesMax,
    signal,
  }: Of & {
    readonly from: { readonly upTo: StoredUpTo; readonly progress: SnapshotProgress }
    readonly rowBytesMax: number
  },
): AsyncGenerator<ReplicationRead> {
  const snapshot = await openSnapshot({ reach, plan, signal }, { rowBytesMax })
  try {
    const { point } = from.progress
    let progress: SnapshotProgress = {
      ...from.progress,
      tables: snapshot.tables.length,
      parts: withPart(from.progress.parts, { point, lsn: lsnText(snapshot.lsn) }),
    }
    for await (const page of pagesOf(snapshot, point)) {
      const items = page.rows.map((row, n) =>
        payloadOf(snapshot, { table: page.table, row, index: progress.rows + n, rowBytesMax }),
      )
      progress = { ...progress, rows: progress.rows + items.length, tables_done: page.tablesDone, point: page.point }
      yield { items, upTo: from.upTo, progress }
    }
    yield completed(progress)
  } finally {
    snapshot.close()
  }
}

/** The changes before the first row was copied are contained in the rows, so the replication starts there. */
function completed(progress: SnapshotProgress): ReplicationRead {
  const { parts, tables } = progress
  return {
    items: [],
    upTo: { lsn: lsnOf(parts[0]?.lsn ?? '0/0') - 1n, index: null },
    progress: {
      ...progress,
      state: 'complete',
      tables_done: tables ?? 0,
      point: null,
      // Nothing has to be left out of the changes when all rows were copied at one position.
      parts: parts.length === 1 ? [] : parts,
    },
  }
}

type Table = Snapshot['tables'][number]
type Row = Awaited<ReturnType<Snapshot['page']>>['rows'][number]
type Page = {
  readonly table: Table
  readonly rows: readonly Row[]
  readonly tablesDone: number
  readonly point: Point
}

/** The pages after a point, without empty ones. */
async function* pagesOf(snapshot: Snapshot, from: Point | null): AsyncGenerator<Page> {
  for (const [index, table] of snapshot.tables.entries()) {
    if (from !== null && byTable(table, from) < 0) continue
    for await (const { rows, more, after } of pagesOfTable(snapshot, { table, from })) {
      const point = { schema: table.schema, table: table.table, key: after }
      if (rows.length > 0) yield { table, rows, tablesDone: more ? index : index + 1, point }
    }
  }
}

async function* pagesOfTable(
  snapshot: Snapshot,
  { table, from }: { readonly table: Table; readonly from: Point | null },
): AsyncGenerator<{ readonly rows: readonly Row[]; readonly more: boolean; readonly after: Key }> {
  let after = from !== null && byTable(table, from) === 0 ? from.key : null
  if (after !== null && after.length !== table.key.length) throw keyChanged(tableText(table))
  for (let more = true; more;) {
    // oxlint-disable-next-line no-await-in-loop -- page after page
    const page = await snapshot.page({ table, after, limit: LIMITS.sourceBatchRowsMax })
    ;({ more } = page)
    after = page.rows.at(-1)?.key ?? after
    yield { ...page, after: after ?? [] }
  }
}

function payloadOf(
  { lsn, takenAt }: Snapshot,
  {
    table,
    row,
    index,
    rowBytesMax,
  }: {
    table: Table
    row: Row
    index: number
    rowBytesMax: number
  },
): string | null {
  if (row.values === null) return null
  const json = changeJson({
    operation: 'snapshot',
    schema: table.schema,
    table: table.table,
    columns: table.columns,
    row: row.values,
    old: null,
    // No commit has this LSN, so no change has this pair of LSN and index.
    lsn: lsnText(lsn - 1n),
    index,
    committedAt: takenAt,
  })
  return Buffer.byteLength(json) > rowBytesMax ? null : json
}

/** Leaves out the changes that the copied rows contain, and forgets the parts once `upTo` is behind all of them. */
export async function afterCopy<Change extends PlacedChange>(
  { reach }: Pick<Deps, 'reach'>,
  { changes, upTo, progress, ...at }: Of & ReplicationPlace & { readonly changes: readonly Change[] },
): Promise<{ readonly changes: readonly Change[]; readonly progress: SnapshotProgress | null }> {
  if (progress === null || progress.parts.length === 0) return { changes, progress }
  const limit = containedUpTo(progress.parts)
  const left = changes.every(({ lsn }) => lsn >= limit)
    ? { changes, emptied: progress.emptied }
    : await leftOf(changes, { progress, ask: { reach, ...at } })
  return {
    changes: left.changes,
    progress: upTo.lsn >= limit ? { ...progress, parts: [], emptied: [] } : { ...progress, emptied: left.emptied },
  }
}

async function leftOf<Change extends PlacedChange>(
  changes: readonly Change[],
  { progress, ask }: { readonly progress: SnapshotProgress; readonly ask: Parameters<typeof keysOfTables>[0] },
): ReturnType<typeof notContained<Change>> {
  const keys = await keysOfTables(ask)
  return notContained(changes, {
    parts: progress.parts,
    emptied: progress.emptied,
    keyOf: ({ schema, table, row, old }) => {
      const names = (keys.get(tableText({ schema, table })) ?? []).map(({ name }) => name)
      return [row, old].flatMap((values) => {
        const key = names.flatMap((name) => values?.[name] ?? [])
        return key.length === 0 || key.length < names.length ? [] : [key]
      })
    },
    after: async ({ point, keys: asked }) =>
      keysAfter(ask, { key: keys.get(tableText(point)) ?? [], after: point.key, keys: asked }),
  })
}

const keyChanged = (table: string): ForeignFailure =>
  new ForeignFailure(
    'key_changed',
    `The primary key of ${table} has changed while its rows were copied, so the snapshot cannot continue. Send restart: true to copy all rows again.`,
  )
