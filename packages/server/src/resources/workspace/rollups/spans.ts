/** Decides when each minute is counted, and which rows a time range is read from. All times are in milliseconds. */

export const MINUTE_MS = 60_000
export const HOUR_MS = 3_600_000

/** A minute that has just ended is counted again after everything in progress at its end has been committed. */
const SETTLING_MS = 5_000
/** No row is committed later than this after the time in its id: its request stops waiting for it long before. */
export const GRACE_MS = 60_000
/** Bounds one run, so that it ends soon. The next run continues. */
const MINUTES_AT_ONCE_MAX = 120

export const floorTo = (ms: number, span: number): number => Math.floor(ms / span) * span

export type Progress = { readonly closedUntil: number; readonly rolledAt: number }

/**
 * The minutes to count at `now`, each by its start: the current one at every run; an ended one twice, shortly after its end
 * and, for the last time, after the grace; and all that earlier runs did not reach. So most rows are read three or four times.
 */
export function minutesToCount({ closedUntil, rolledAt, now }: Progress & { readonly now: number }): readonly number[] {
  const minutes: number[] = []
  for (let minute = closedUntil; minute <= now && minutes.length < MINUTES_AT_ONCE_MAX; minute += MINUTE_MS) {
    const end = minute + MINUTE_MS
    const toCome = now < end + SETTLING_MS || end + GRACE_MS <= now
    if (toCome || rolledAt < end + SETTLING_MS) minutes.push(minute)
  }
  return minutes
}

/** The time before which all counts are final, after `counted` were counted at `now`. */
export function closedAfter(
  { closedUntil, now }: { readonly closedUntil: number; readonly now: number },
  counted: readonly number[],
): number {
  let closed = closedUntil
  for (const minute of counted) {
    if (minute !== closed || minute + MINUTE_MS + GRACE_MS > now) break
    closed += MINUTE_MS
  }
  return closed
}

export type Piece = { readonly spanSeconds: 60 | 3_600; readonly from: number; readonly to: number }

/**
 * The rows for a range of whole minutes: hours where they are closed and inside the range, and minutes at both ends. `to` is
 * exclusive.
 */
export function piecesOf({
  from,
  to,
  closedUntil,
}: {
  readonly from: number
  readonly to: number
  readonly closedUntil: number
}): readonly Piece[] {
  const hoursFrom = floorTo(from + HOUR_MS - 1, HOUR_MS)
  const hoursTo = floorTo(Math.min(to, closedUntil), HOUR_MS)
  const pieces: readonly Piece[] =
    hoursFrom < hoursTo
      ? [
          { spanSeconds: 60, from, to: hoursFrom },
          { spanSeconds: 3_600, from: hoursFrom, to: hoursTo },
          { spanSeconds: 60, from: hoursTo, to },
        ]
      : [{ spanSeconds: 60, from, to }]
  return pieces.filter((piece) => piece.from < piece.to)
}
