/** What is counted when, and which rows a range of time is read from: judgements about time alone. All in milliseconds. */

export const MINUTE_MS = 60_000
export const HOUR_MS = 3_600_000

/** A minute that has just ended is counted anew once what was under way at its end has surely been committed. */
const SETTLING_MS = 5_000
/** Nothing is committed later than this after the moment in its id: who waits for a commit gives up long before. */
export const GRACE_MS = 60_000
/** So that one run ends soon; the next one goes on. */
const MINUTES_AT_ONCE_MAX = 120

export const floorTo = (ms: number, span: number): number => Math.floor(ms / span) * span

export type Progress = { readonly closedUntil: number; readonly rolledAt: number }

/**
 * The minutes to count at `now`, each by its first moment: the running one at every run; one that has ended twice, shortly
 * after and, for good, after the grace; all that earlier runs did not come to. So most rows are read three times or four.
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

/** Until when everything is counted for good, once `counted` were counted at `now`. */
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
 * The rows that a range of whole minutes is read from: hours where they are closed and lie inside, minutes at both ends. `to` is
 * outside.
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
