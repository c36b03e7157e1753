/**
 * A PostgreSQL snapshot: the transactions that had ended at one moment. Of two snapshots of one server, one always contains the
 * other, so the rows that became visible between them are exactly those that only the later one sees.
 */
export type Snapshot = {
  /** Every transaction below this had ended. */
  readonly xmin: number
  /** No transaction from here on had started. */
  readonly xmax: number
  /** The transactions between these two that were under way. */
  readonly running: readonly number[]
}

/** Sees nothing at all: a read that starts after it returns everything. */
export const NOTHING: Snapshot = { xmin: 1, xmax: 1, running: [] }

export const seesNothing = ({ xmax }: Snapshot): boolean => xmax === NOTHING.xmax

const RUNNING_MAX = 1_000

/** `10:20:10,14,15`, as `pg_current_snapshot()` prints it; undefined when the text is not a snapshot. */
export function readSnapshot(text: string): Snapshot | undefined {
  const [low, high, list, more] = text.split(':')
  if (low === undefined || high === undefined || list === undefined || more !== undefined) return undefined
  const running = list === '' ? [] : list.split(',').map(Number)
  const snapshot = { xmin: Number(low), xmax: Number(high), running }
  return isSnapshot(snapshot) ? snapshot : undefined
}

export function isSnapshot({ xmin, xmax, running }: Snapshot): boolean {
  const between = (xid: number): boolean => Number.isSafeInteger(xid) && xid >= xmin && xid < xmax
  return (
    Number.isSafeInteger(xmin) &&
    Number.isSafeInteger(xmax) &&
    xmin > 0 &&
    xmax >= xmin &&
    running.length <= RUNNING_MAX &&
    running.every(between)
  )
}

/** Whether the rows of this transaction are visible, if it committed at all. */
export function sees({ xmin, xmax, running }: Snapshot, xid: number): boolean {
  return xid < xmin || (xid < xmax && !running.includes(xid))
}

/** Whether `later` sees everything that `earlier` sees. */
export function contains(later: Snapshot, earlier: Snapshot): boolean {
  return later.xmax >= earlier.xmax && later.running.every((xid) => !sees(earlier, xid))
}

/**
 * The earliest time at which a row that a snapshot does not see can have been created. Nearly always that is the time of the
 * snapshot. It is earlier while an older transaction is still under way. One per process.
 */
export class Horizon {
  readonly #patienceMs: number
  #proven = { xmax: Infinity, at: 0 }
  #anchor: { readonly xmax: number; readonly at: number } | undefined

  /**
   * `patienceMs`: how long to wait for older transactions. The rows of one that runs longer are promised to nobody, so
   * it is ignored.
   */
  constructor(patienceMs: number) {
    this.#patienceMs = patienceMs
  }

  /** `at`: a time not after the snapshot was taken. Returns milliseconds of the same clock, not after `at`. */
  behind(snapshot: Snapshot, at: number): number {
    // All transactions that ran at the anchor have ended, so rows that this snapshot does not see started after the anchor.
    if (this.#anchor !== undefined && snapshot.xmin >= this.#anchor.xmax) {
      this.#proven = this.#anchor
      this.#anchor = undefined
    }
    this.#anchor ??= { xmax: snapshot.xmax, at }
    const began = snapshot.running.length === 0 ? at : this.#ofRunning(snapshot)
    return Math.min(at, Math.max(began, at - this.#patienceMs))
  }

  #ofRunning({ xmin }: Snapshot): number {
    return xmin >= this.#proven.xmax ? this.#proven.at : -Infinity
  }
}
