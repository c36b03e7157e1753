import type { Deps } from '../../../context.ts'
import type { SourceSecret } from '../../../domain/sources/secret.ts'
import {
  lsnOf,
  lsnText,
  openSlot,
  prepareReplication,
  replicationFailure,
  type Replication,
  type ReplicationPlan,
} from '../../../platform/foreign-databases/replication/index.ts'
import { Timers } from '../timers.ts'
import { ChangeBuffer, type StoredUpTo } from './change-buffer.ts'
import { containedUpTo } from './copied-parts.ts'
import {
  afterCopy,
  copyRows,
  NOT_COPIED,
  type ReplicationPlace,
  type ReplicationRead,
  type SnapshotProgress,
} from './copy-rows.ts'
import { replicationPlan, type ReplicationSettings } from './replication-plan.ts'
import type { StreamBatch } from './types.ts'

/** The last change that is stored. `system` is the installation of PostgreSQL in which the LSN is valid. */
export type ReplicationPosition = {
  readonly system: string
  readonly slot: string
  readonly lsn: string
  /** The number of changes of the transaction that commits at `lsn`; null: all of them. */
  readonly index: number | null
  /** The progress of the copy of existing rows; null: the source does not copy them. */
  readonly snapshot?: SnapshotProgress | null
}

/** The slot moves at this pace while no published table changes, and the server learns that this process is alive. */
const QUIET_MS = 10_000
/** Preparing can wait for open transactions of the other database. The lease of the claim is renewed meanwhile. */
const PREPARE_MS_MAX = 45_000

export type ReplicationAsked = {
  readonly id: string
  readonly settings: ReplicationSettings
  readonly secret: SourceSecret
  readonly position: ReplicationPosition | null
  readonly rowBytesMax: number
  readonly signal: AbortSignal
}

/**
 * Follows the changes of tables, after a copy of the existing rows if the source wants one. A batch is acknowledged when the
 * caller asks for the next one, which it does after it has stored the batch and its position in one commit. The next changes are
 * read meanwhile, as many as a batch has. It never ends by itself; it rejects with `ForeignFailure`.
 */
export async function* readReplication(
  deps: Pick<Deps, 'reach' | 'clock'>,
  asked: ReplicationAsked,
): AsyncGenerator<StreamBatch> {
  const { position, signal } = asked
  const plan = replicationPlan(asked)
  const { system, lsn: confirmed } = await prepareReplication({
    reach: deps.reach,
    plan,
    signal: AbortSignal.any([signal, AbortSignal.timeout(PREPARE_MS_MAX)]),
    stored: position === null ? null : { system: position.system, lsn: completeOf(storedOf(position)) },
  })
  const from: ReplicationPlace =
    position === null
      ? { upTo: { lsn: confirmed, index: null }, progress: plan.snapshot ? NOT_COPIED : null }
      : { upTo: storedOf(position), progress: position.snapshot ?? null }
  const batchOf = ({ items, upTo, progress }: ReplicationRead): StreamBatch => ({
    items,
    position: {
      system,
      slot: plan.slot,
      lsn: lsnText(upTo.lsn),
      index: upTo.index,
      ...(progress === null ? {} : { snapshot: progress }),
    } satisfies ReplicationPosition,
    retryMs: undefined,
  })
  // The start of the slot is stored before anything is read from it: a slot without a position is created again.
  if (position === null) yield batchOf({ ...from, items: [] })
  try {
    for await (const read of copyThenFollow(deps, { ...asked, plan, from, confirmed })) yield batchOf(read)
  } catch (error) {
    if (!signal.aborted) throw replicationFailure(error)
  }
}

type Following = Pick<ReplicationAsked, 'settings' | 'rowBytesMax' | 'signal'> & {
  readonly plan: ReplicationPlan
  readonly from: ReplicationPlace
  /** The position of the slot. */
  readonly confirmed: bigint
}

async function* copyThenFollow(deps: Pick<Deps, 'reach' | 'clock'>, asked: Following): AsyncGenerator<ReplicationRead> {
  let { from } = asked
  const { progress, upTo } = from
  if (progress?.state === 'copying')
    for await (const copied of copyRows(deps, { ...asked, from: { upTo, progress } })) {
      from = copied
      yield copied
    }
  yield* followChanges(deps, { ...asked, from })
}

/** The changes after `from`, without those that the copied rows contain. */
async function* followChanges(
  { reach, clock }: Pick<Deps, 'reach' | 'clock'>,
  { settings, rowBytesMax, plan, signal, from, confirmed }: Following,
): AsyncGenerator<ReplicationRead> {
  let { upTo, progress } = from
  const timers = new Timers(clock)
  const valuesUpTo = containedUpTo(progress?.parts ?? [])
  const follower = new Follower(
    new ChangeBuffer({ from: upTo, operations: settings.operations, rowBytesMax, valuesUpTo }),
  )
  const complete = completeOf(upTo)
  try {
    const replication = await follower.open({
      reach,
      plan,
      signal,
      stored: complete > confirmed ? complete : confirmed,
    })
    timers.every(QUIET_MS, () => {
      replication.ping()
      follower.tick()
    })
    for (;;) {
      // oxlint-disable-next-line no-await-in-loop -- batch after batch
      const taken = await follower.next(upTo)
      ;({ upTo } = taken)
      // oxlint-disable-next-line no-await-in-loop -- as above
      const left = await afterCopy({ reach }, { changes: taken.changes, upTo, progress, plan, signal })
      ;({ progress } = left)
      yield { items: left.changes.map(({ text }) => text), upTo, progress }
      if (taken.complete !== undefined) replication.acknowledge(taken.complete)
    }
  } finally {
    timers.clear()
    follower.close()
  }
}

const storedOf = ({ lsn, index }: ReplicationPosition): StoredUpTo => ({ lsn: lsnOf(lsn), index })

/** The last position up to which every transaction is complete. */
const completeOf = ({ lsn, index }: StoredUpTo): bigint => (index === null ? lsn : lsn - 1n)

type Next = ReturnType<ChangeBuffer['take']>

/** Joins the events of a replication with the caller's loop. */
class Follower {
  readonly #buffer: ChangeBuffer
  #woken = Promise.withResolvers<void>()
  #replication: Replication | undefined
  #failure: { readonly error: unknown } | undefined
  /** Everything that was committed before this is stored, or was of no interest. */
  #quiet = 0n
  #ticked = false
  /** The caller knows that the connection is good. A connection that always breaks immediately is a failure. */
  #isKnownGood = false

  constructor(buffer: ChangeBuffer) {
    this.#buffer = buffer
  }

  async open(
    at: Pick<Parameters<typeof openSlot>[0], 'reach' | 'signal'> & { plan: ReplicationPlan; stored: bigint },
  ): Promise<Replication> {
    this.#replication = await openSlot({
      ...at,
      message: (message) => {
        const room = this.#buffer.push(message)
        if (this.#buffer.isReady) this.#woken.resolve()
        return room
      },
      quiet: (lsn) => {
        if (this.#buffer.isIdle && lsn > this.#quiet) this.#quiet = lsn
      },
    })
    this.#replication.ended.catch((error: unknown) => {
      this.#failure = { error }
      this.#woken.resolve()
    })
    return this.#replication
  }

  tick(): void {
    this.#ticked = true
    this.#woken.resolve()
  }

  close(): void {
    this.#replication?.close()
  }

  /** The next changes to store, or, at a tick, a position after WAL without changes of interest. */
  async next(after: StoredUpTo): Promise<Next> {
    for (;;) {
      if (this.#failure !== undefined) throw this.#failure.error
      const next = this.#changes() ?? this.#tick(after)
      this.#ticked = false
      if (next !== undefined) {
        this.#isKnownGood = true
        return next
      }
      // oxlint-disable-next-line no-await-in-loop -- until something has arrived
      await this.#woken.promise
      this.#woken = Promise.withResolvers()
    }
  }

  #changes(): Next | undefined {
    if (!this.#buffer.isReady) return undefined
    const taken = this.#buffer.take()
    if (taken.changes.length > 0) return taken
    // Transactions without a change of interest move the position at the next tick.
    if (taken.complete !== undefined && taken.complete >= this.#quiet) this.#quiet = taken.complete + 1n
    return undefined
  }

  #tick(after: StoredUpTo): Next | undefined {
    if (!this.#ticked) return undefined
    const lsn = this.#quiet - 1n
    if (lsn > after.lsn) return { changes: [], upTo: { lsn, index: null }, complete: lsn }
    return this.#isKnownGood ? undefined : { changes: [], upTo: after, complete: undefined }
  }
}
