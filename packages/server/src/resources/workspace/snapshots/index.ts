import { encodeId, LIMITS, type RestorableKind } from '@postroad/contract'
import type { Ctx } from '../../../context.ts'
import { SEALED_COLUMNS, secretPlace, type SealedColumn } from '../../secret-place.ts'
import { actorNames } from '../audit/index.ts'
import { eraseBeyond, insertDeletion, listColumns, putRows, putSealed, readRows, type Column } from './queries.ts'

export {
  eraseOld,
  eraseSnapshots,
  listDeletions,
  listResuming,
  lockDeletion,
  setRestored,
  setResumed,
  type DeletionRow,
  type HeldDeletion,
  type Resuming,
} from './queries.ts'

type Part = { readonly table: string; /** The column with the id of the resource. */ readonly column: string }

/** The tables with the rows of a resource. Its own row is in the first one, and goes before the rows that refer to it. */
const PARTS: Readonly<Record<RestorableKind, readonly [Part, ...Part[]]>> = {
  webhook: [
    { table: 'webhooks', column: 'id' },
    { table: 'webhook_versions', column: 'webhook_id' },
    { table: 'record_views', column: 'webhook_id' },
  ],
  rule: [{ table: 'rules', column: 'id' }],
  transform: [
    { table: 'transforms', column: 'id' },
    { table: 'transform_versions', column: 'transform_id' },
  ],
  destination: [{ table: 'destinations', column: 'id' }],
  workflow: [
    { table: 'workflows', column: 'id' },
    { table: 'workflow_versions', column: 'workflow_id' },
  ],
}

/** A copy of a resource: its rows as PostgreSQL wrote them, and its secrets in plain text. The whole is sealed. */
export type Snapshot = {
  readonly parts: readonly { readonly table: string; readonly rows: readonly string[] }[]
  readonly secrets: readonly { readonly column: SealedColumn; readonly value: string }[]
}

type Doomed = { readonly kind: RestorableKind; readonly id: string; readonly name: string }

/** Copies a resource before its deletion, in the transaction of the deletion. Returns the part of the response about it. */
export async function keepDeleted(tx: Ctx, { kind, id, name }: Doomed) {
  const now = tx.clock.now()
  const deletionId = tx.uuid()
  const expiresAt = new Date(now + LIMITS.deletionRetentionMs)
  const snapshot = await snapshotOf(tx, { kind, id })
  await insertDeletion(tx.db, {
    workspaceId: tx.workspaceId,
    projectId: tx.projectId,
    id: deletionId,
    kind,
    resource_id: id,
    name,
    ...actorNames(tx),
    deleted_at: new Date(now),
    expires_at: expiresAt,
    snapshot: tx.cipher.seal(JSON.stringify(snapshot), secretPlace('deletions.snapshot', deletionId)),
  })
  await eraseBeyond(tx.db, { ...tx, retained: LIMITS.deletionsPerProjectMax })
  return { id: encodeId('deletion', deletionId), restorable_until: expiresAt.toISOString() }
}

async function snapshotOf(tx: Ctx, { kind, id }: Pick<Doomed, 'kind' | 'id'>): Promise<Snapshot> {
  const parts: { table: string; rows: readonly string[] }[] = []
  for (const { table, column } of PARTS[kind]) {
    // oxlint-disable-next-line no-await-in-loop -- one transaction has one connection
    parts.push({ table, rows: await readRows(tx.db, { ...tx, table, column, id }) })
  }
  const [{ table }] = PARTS[kind]
  const [own = '{}'] = parts[0]?.rows ?? []
  return { parts, secrets: secretsIn(tx, { table, id, row: membersOf(own) }) }
}

type Members = Readonly<Record<string, unknown>>

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- `readRows` makes it from a row
const membersOf = (row: string): Members => JSON.parse(row) as Members

/** The secrets of a row in plain text, so the copy also opens after a rotation of the key. A damaged one stays so. */
function secretsIn(
  { cipher }: Pick<Ctx, 'cipher'>,
  { table, id, row }: { readonly table: string; readonly id: string; readonly row: Members },
): Snapshot['secrets'] {
  return SEALED_COLUMNS.flatMap((column) => {
    const [owner, member = ''] = column.split('.')
    const sealed = row[member]
    if (owner !== table || typeof sealed !== 'string') return []
    try {
      const value = cipher.open(Buffer.from(sealed.slice(BYTEA_MARK.length), 'hex'), secretPlace(column, id)).reveal()
      return [{ column, value }]
    } catch {
      return []
    }
  })
}

/** PostgreSQL writes bytes as hexadecimal digits behind this. */
const BYTEA_MARK = String.raw`\x`

export function openSnapshot(
  { cipher }: Pick<Ctx, 'cipher'>,
  { id, snapshot }: { readonly id: string; readonly snapshot: Buffer },
): Snapshot {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- sealed by keepDeleted, and opens only as it was sealed
  return JSON.parse(cipher.open(snapshot, secretPlace('deletions.snapshot', id)).reveal()) as Snapshot
}

/** Inserts the rows of a copy again. False when another resource has its name or slug, so nothing may be committed. */
export async function putBack(tx: Ctx, { id, parts, secrets }: Snapshot & { readonly id: string }): Promise<boolean> {
  for (const [index, { table, rows }] of parts.entries()) {
    if (rows.length === 0) continue
    // oxlint-disable-next-line no-await-in-loop -- one transaction has one connection
    const columns = await columnsOf(tx, table, rows)
    // oxlint-disable-next-line no-await-in-loop -- as above
    const put = await putRows(tx.db, { ...tx, table, rows, columns, mark: tx.uuid() })
    if (index === 0 && put === 0) return false
  }
  for (const { column, value } of secrets) {
    const [table = '', member = ''] = column.split('.')
    const sealed = tx.cipher.seal(value, secretPlace(column, id))
    // oxlint-disable-next-line no-await-in-loop -- as above
    await putSealed(tx.db, { ...tx, table, column: member, id, sealed })
  }
  return true
}

// oxlint-disable-next-line max-params -- the transaction, and the rows of a table
async function columnsOf(tx: Ctx, table: string, rows: readonly string[]): Promise<readonly Column[]> {
  const copied = new Set(rows.flatMap((row) => Object.keys(membersOf(row))))
  return (await listColumns(tx.db, table)).filter(({ name }) => copied.has(name))
}
