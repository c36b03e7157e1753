/** The position of one signal of a forwarder, as it is stored. Every row before it was accepted, or is counted as lost. */
export type Position = {
  /** The history to which the snapshots belong (docs/adr/0008). */
  readonly history: string
  /** A snapshot: every row that it sees was handled, except those in `open`. */
  readonly from: string
  /** Milliseconds: every row that `from` does not see has an id from this time or later. */
  readonly floor: number
  /** A round that has not reached its end. */
  readonly round: Round | null
  /** Rows that were seen before they had ended, by kind. */
  readonly open: Open
}

export type Round = {
  /** The snapshot at which the round ends. */
  readonly to: string
  readonly floor: number
  /** When `to` was taken, in milliseconds. */
  readonly at: number
  /** The kind that is read now, and the last row of it that was handled. */
  readonly kind: string
  readonly after: string | null
  /** The open rows for the next round. */
  readonly open: Open
}

export type Open = Readonly<Record<string, readonly string[] | undefined>>

/** The longest time from the creation of an id to the start of its transaction, as for the stream. */
export const MARGIN_MS = 26_000
/** How long a read waits for the oldest transaction under way. */
export const PATIENCE_MS = 60_000

/** The position of a forwarder that starts at this snapshot. */
export const positionAt = ({ history, snapshot }: { history: string; snapshot: string }, now: number): Position => ({
  history,
  from: snapshot,
  floor: now - PATIENCE_MS - MARGIN_MS,
  round: null,
  open: {},
})
