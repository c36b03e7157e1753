import { createHash } from 'node:crypto'
import { encodeId, LIMITS, type OriginError } from '@postroad/contract'
import { asSystem } from '../../as-system.ts'
import { pauseAfter } from '../../domain/sources/backoff.ts'
import { notifySwitchedOff } from '../../resources/sources/sources/index.ts'
import {
  advanceSource,
  disableFailing,
  failSource,
  releaseSource,
  type ClaimedSource,
} from '../../resources/sources/sources/queries.ts'
import { inTransaction } from '../../transaction.ts'
import { fromOrigin } from '../capture/from-origin.ts'
import type { Accepted } from '../accept.ts'
import { refusalOf } from './outcome.ts'
import { Overtaken, type SourceDeps } from './ports.ts'
import { ForeignFailure } from '../../platform/foreign-failure.ts'

/** The pause before the next read of a source whose workspace was suspended during a run. */
const HALTED_MS = 10_000
/** Refusals of the payload itself: the same item would be refused again. */
const OF_THE_ITEM: ReadonlySet<string> = new Set([
  'payload_too_large',
  'records_too_large',
  'invalid_body',
  'empty_body',
])
const HALTED: ReadonlySet<string> = new Set(['workspace_suspended', 'workspace_closed', 'not_found'])

/** The workspace was suspended or closed during the run. This is not a failure. */
class Halted extends Error {}
/** The other system was read, and this server refused the events for a time, such as for the quota of the month. */
class Refused extends ForeignFailure {}

export type Batch = {
  /** The items that match the conditions. */
  readonly items: readonly { readonly text: string; readonly key: string | null }[]
  /** The number of items that could not become an event. */
  readonly unusable: number
  readonly position: unknown
  readonly dueInMs: number
  /** The time until which a stream continues under its claim; null: the run ends. */
  readonly leaseUntil: Date | null
}

/** Stores the events of a batch and the position after them in one commit, unless the claim is lost. */
export async function storeBatch(deps: SourceDeps, source: ClaimedSource, batch: Batch): Promise<void> {
  const now = deps.clock.now()
  const events = batch.items.map(({ text, key }) =>
    fromOrigin({
      workspaceId: source.workspace_id,
      projectId: source.project_id,
      dataset: source.dataset,
      origin: { kind: 'source', id: source.id },
      text,
      receivedAt: now,
      customer: source.customer,
      ...(key === null ? {} : { idempotencyKey: hashOfKey(key) }),
    }),
  )
  await deps.acceptAll(events, async (tx, outcomes) => {
    const at = new Date(now)
    const skipped = skippedOf(outcomes, at)
    const changed = await advanceSource(tx, {
      ...claimOf(source),
      position: batch.position,
      events: outcomes.filter(({ kind }) => kind === 'stored').length,
      skipped: batch.unusable + skipped.length,
      now: at,
      dueAt: new Date(now + batch.dueInMs),
      leaseUntil: batch.leaseUntil,
      error: skipped.at(-1) ?? null,
    })
    if (changed === 0) throw new Overtaken()
  })
}

/** The refusals of single items. Any other refusal throws, so that the batch comes again. */
function skippedOf(outcomes: readonly Accepted[], at: Date): readonly OriginError[] {
  return outcomes.flatMap((outcome) => {
    const refusal = refusalOf(outcome, at)
    if (refusal === undefined) return []
    if (OF_THE_ITEM.has(refusal.reason)) return [refusal]
    if (HALTED.has(refusal.reason)) throw new Halted()
    throw new Refused(refusal.reason, refusal.error)
  })
}

/** Ends a run that did not store its batch. The position stays, so nothing is lost. */
export async function settleFailure(deps: SourceDeps, source: ClaimedSource, cause: unknown): Promise<void> {
  if (cause instanceof Overtaken) return
  const now = deps.clock.now()
  if (cause instanceof Halted) {
    await releaseSource(deps.database, { ...claimOf(source), dueAt: new Date(now + HALTED_MS) })
    return
  }
  if (!(cause instanceof ForeignFailure)) {
    // This server is at fault, or the road is full for a moment, so this is not a failure of the source.
    deps.retryLog.warn('source.not_read', { source: encodeId('source', source.id), cause })
    await releaseSource(deps.database, { ...claimOf(source), dueAt: new Date(now + pauseAfter(1)) })
    return
  }
  const error: OriginError = { at: new Date(now).toISOString(), reason: cause.reason, error: cause.message }
  const { workspaceId, projectId } = claimOf(source)
  await inTransaction(asSystem(deps, { workspaceId, projectId, requestId: 'sources' }), async (tx) => {
    const failed = await failSource(tx.db, {
      ...claimOf(source),
      error,
      now: new Date(now),
      // Only a source that cannot be read is turned off after a day.
      isUnread: !(cause instanceof Refused),
      dueAt: new Date(now + Math.max(pauseAfter(source.failures + 1), cause.waitMs)),
    })
    if (failed === undefined) return
    const since = failed.failing_since?.getTime() ?? now
    if (now - since < LIMITS.sourceFailingMsMax) return
    const disabled = await disableFailing(tx.db, { ...claimOf(source), now: new Date(now) })
    if (disabled > 0) await notifySwitchedOff(tx, { id: source.id, name: failed.name, error })
  })
}

/** Any text of another system → printable characters. */
const hashOfKey = (key: string): string => createHash('sha256').update(key).digest('hex')

export const claimOf = ({ workspace_id, project_id, id, fence }: ClaimedSource) => ({
  workspaceId: workspace_id,
  projectId: project_id,
  id,
  fence,
})
