import type { Db } from '../../../../platform/db.ts'
import { findProgress } from '../queries.ts'
import { floorTo, HOUR_MS, MINUTE_MS, piecesOf, type Piece } from '../spans.ts'

/** A range of whole minutes, or of whole hours if it starts before the stored minutes; all in milliseconds. */
export type CountedRange = {
  readonly from: number
  readonly to: number
  readonly pieces: readonly Piece[]
  /** All counts before this time are final. */
  readonly closedUntil: number
  /** The time of the writer's last count; null: not counted yet. */
  readonly countedAt: number | null
}

/** Before this, a range is read from hours. Upkeep retains minutes a day longer, so none is deleted during a read. */
const MINUTES_READ_MS = 7 * 86_400_000

/**
 * The rows for a range, which is rounded out to whole minutes or hours. `now` decides which minutes are stored. A range with buckets shorter
 * than an hour is read only from minutes, because a whole hour would fall into its first bucket.
 */
export async function rangeAt(
  db: Db,
  asked: { readonly from: number; readonly to: number; readonly now: number; readonly bucketSeconds?: number },
): Promise<CountedRange> {
  const progress = await findProgress(db)
  const closedUntil = progress?.closed_until.getTime() ?? 0
  const unit = asked.from < asked.now - MINUTES_READ_MS ? HOUR_MS : MINUTE_MS
  const from = floorTo(asked.from, unit)
  const to = floorTo(asked.to + unit - 1, unit)
  const inMinutes = unit === MINUTE_MS && (asked.bucketSeconds ?? HOUR_MS) * 1_000 < HOUR_MS
  const pieces: readonly Piece[] = inMinutes ? [{ spanSeconds: 60, from, to }] : piecesOf({ from, to, closedUntil })
  return { from, to, pieces, closedUntil, countedAt: progress?.rolled_at.getTime() ?? null }
}
