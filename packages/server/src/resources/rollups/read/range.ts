import type { Db } from '../../../platform/db.ts'
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

/** The rows that a range is read from: it is widened to whole minutes, or hours. `now` says which minutes are kept. */
export async function rangeAt(db: Db, asked: { readonly from: number; readonly to: number; readonly now: number }): Promise<CountedRange> {
  const progress = await findProgress(db)
  const closedUntil = progress?.closed_until.getTime() ?? 0
  const unit = asked.from < asked.now - MINUTES_READ_MS ? HOUR_MS : MINUTE_MS
  const from = floorTo(asked.from, unit)
  const to = floorTo(asked.to + unit - 1, unit)
  return { from, to, pieces: piecesOf({ from, to, closedUntil }), closedUntil, countedAt: progress?.rolled_at.getTime() ?? null }
}
