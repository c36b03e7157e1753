import type { Db } from '../../../../platform/db.ts'
import { findProgress } from '../queries.ts'
import { floorTo, HOUR_MS, MINUTE_MS, piecesOf, type Piece } from '../spans.ts'

/** A range of whole minutes, or of whole hours where it begins before the minutes that are kept; all in milliseconds. */
export type CountedRange = {
  readonly from: number
  readonly to: number
  readonly pieces: readonly Piece[]
  /** Before this everything is counted for good. */
  readonly closedUntil: number
  /** When the writer last counted; null: never yet. */
  readonly countedAt: number | null
}

/** From before that hours are read. Upkeep keeps minutes a day longer, so that none goes while it is read. */
const MINUTES_READ_MS = 7 * 86_400_000

/**
 * The rows that a range is read from: it is widened to whole minutes, or hours. `now` says which minutes are kept. A range that is
 * told in buckets shorter than an hour is read from minutes alone: an hour would lie in its first bucket whole.
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
