import { LIMITS, type ChangeOperation } from '@postroad/contract'
import { changeJson, type Change } from '../../../domain/sources/change-event.ts'
import { lsnOf, lsnText, type ReplicationMessage } from '../../../platform/foreign-databases/replication/index.ts'

/** Everything before the transaction that commits at `lsn` is stored, and `index` changes of it; null: all of it. */
export type StoredUpTo = { readonly lsn: bigint; readonly index: number | null }

/** A change before its transaction is known. */
type Unplaced = Omit<Change, 'lsn' | 'index' | 'committedAt'>

/** `text` null: the change is too large to be stored. */
export type TakenChange = Pick<Change, 'operation' | 'schema' | 'table' | 'row' | 'old'> & {
  readonly text: string | null
  readonly lsn: bigint
}
type Entry =
  | { readonly kind: 'change'; readonly change: TakenChange; readonly lsn: bigint; readonly index: number }
  | { readonly kind: 'end'; readonly lsn: bigint }

export type TakenChanges = {
  readonly changes: readonly TakenChange[]
  readonly upTo: StoredUpTo
  /** The last commit that is complete with these changes. */
  readonly complete: bigint | undefined
}

/**
 * Changes that wait to be stored. It leaves out those that are stored already: after a new connection, PostgreSQL sends every
 * transaction again that was not acknowledged. A large transaction comes in several batches.
 */
export class ChangeBuffer {
  readonly #from: StoredUpTo
  readonly #operations: readonly ChangeOperation[]
  readonly #rowBytesMax: number
  readonly #valuesUpTo: bigint
  #entries: Entry[] = []
  #bytes = 0
  #ends = 0
  #open: { readonly lsn: bigint; readonly time: bigint; index: number } | undefined
  #room = Promise.withResolvers<void>()

  constructor(of: {
    readonly from: StoredUpTo
    readonly operations: readonly ChangeOperation[]
    readonly rowBytesMax: number
    /** Changes before this position include their values. */
    readonly valuesUpTo: bigint
  }) {
    this.#from = of.from
    this.#operations = of.operations
    this.#rowBytesMax = of.rowBytesMax
    this.#valuesUpTo = of.valuesUpTo
  }

  /** A whole transaction waits, or a full batch. */
  get isReady(): boolean {
    return this.#ends > 0 || this.#isFull
  }

  /** Nothing waits, and no transaction has started. */
  get isIdle(): boolean {
    return this.#entries.length === 0 && this.#open === undefined
  }

  /** The promise is resolved when there is room for more. */
  push(message: ReplicationMessage): Promise<void> | undefined {
    if (message.tag === 'begin')
      this.#open = { lsn: lsnOf(message.commitLsn ?? '0/0'), time: BigInt(String(message.commitTime)), index: 0 }
    if (message.tag === 'commit') this.#close()
    for (const change of changesOf(message)) this.#add(change)
    return this.#isFull ? this.#room.promise : undefined
  }

  take(): TakenChanges {
    const entries = this.#entries
    const last = entries.at(-1)
    this.#entries = []
    this.#bytes = 0
    this.#ends = 0
    this.#room.resolve()
    this.#room = Promise.withResolvers()
    return {
      changes: entries.flatMap((entry) => (entry.kind === 'change' ? [entry.change] : [])),
      upTo: last === undefined ? this.#from : { lsn: last.lsn, index: last.kind === 'change' ? last.index + 1 : null },
      complete: entries.findLast(({ kind }) => kind === 'end')?.lsn,
    }
  }

  get #isFull(): boolean {
    return this.#entries.length >= LIMITS.sourceBatchRowsMax || this.#bytes >= LIMITS.sourceBatchBytesMax
  }

  #add(change: Unplaced): void {
    const open = this.#open
    if (open === undefined) return
    const { index, lsn, time } = open
    open.index += 1
    if (this.#isStored(lsn, index) || !this.#operations.some((one) => one === change.operation)) return
    const json = changeJson({ ...change, lsn: lsnText(lsn), index, committedAt: time })
    const bytes = Buffer.byteLength(json)
    const text = bytes > this.#rowBytesMax ? null : json
    const { operation, schema, table } = change
    const values = lsn < this.#valuesUpTo ? { row: change.row, old: change.old } : { row: null, old: null }
    this.#entries.push({ kind: 'change', change: { operation, schema, table, ...values, text, lsn }, lsn, index })
    this.#bytes += text === null ? 0 : bytes
  }

  #close(): void {
    const lsn = this.#open?.lsn
    this.#open = undefined
    if (lsn === undefined || this.#isStored(lsn, Infinity)) return
    this.#entries.push({ kind: 'end', lsn })
    this.#ends += 1
  }

  #isStored(lsn: bigint, index: number): boolean {
    const from = this.#from
    return lsn < from.lsn || (lsn === from.lsn && (from.index === null || index < from.index))
  }
}

function changesOf(message: ReplicationMessage): readonly Unplaced[] {
  if (message.tag === 'truncate')
    return message.relations.map((relation) => ({ ...placeOf(relation), operation: 'truncate', row: null, old: null }))
  if (message.tag !== 'insert' && message.tag !== 'update' && message.tag !== 'delete') return []
  return [
    {
      ...placeOf(message.relation),
      operation: message.tag,
      row: message.tag === 'delete' ? null : message.new,
      old: message.tag === 'insert' ? null : (message.old ?? message.key),
    },
  ]
}

type Relation = Extract<ReplicationMessage, { tag: 'insert' }>['relation']

const placeOf = ({ schema, name, columns }: Relation) => ({ schema, table: name, columns })
