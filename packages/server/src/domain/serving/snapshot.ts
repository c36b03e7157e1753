/**
 * A PostgreSQL snapshot: which transactions had ended at one moment. Two snapshots of one server are always the one
 * inside the other, so what became visible between them is exactly what the later sees and the earlier does not.
 */
export type Snapshot = {
  /** Every transaction below had ended. */
  readonly xmin: number
  /** No transaction from here on had begun. */
  readonly xmax: number
  /** Those between that were under way. */
  readonly running: readonly number[]
}

/** Sees nothing at all: what is read after it is everything. */
export const NOTHING: Snapshot = { xmin: 1, xmax: 1, running: [] }

export const seesNothing = ({ xmax }: Snapshot): boolean => xmax === NOTHING.xmax

const RUNNING_MAX = 1_000

/** `10:20:10,14,15`, as `pg_current_snapshot()` prints it; undefined when the text is none. */
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

/** Whether what this transaction wrote is visible, when it committed at all. */
export function sees({ xmin, xmax, running }: Snapshot, xid: number): boolean {
  return xid < xmin || (xid < xmax && !running.includes(xid))
}

/** Whether `later` sees everything that `earlier` sees. */
export function contains(later: Snapshot, earlier: Snapshot): boolean {
  return later.xmax >= earlier.xmax && later.running.every((xid) => !sees(earlier, xid))
}

/**
 * From which moment on a row that a snapshot does not see can have begun its life. Nearly always that is the snapshot's
 * own moment; while a transaction of before it is still under way, it is earlier. One for a process.
 */
export class Horizon {
  readonly #patienceMs: number
  #proven = { xmax: Infinity, at: 0 }
  #anchor: { readonly xmax: number; readonly at: number } | undefined

  /** `patienceMs`: how long the oldest transaction is waited for; who promised nothing in that time is given up. */
  constructor(patienceMs: number) {
    this.#patienceMs = patienceMs
  }

  /** `at`: a moment not after the snapshot was taken. Gives milliseconds of the same clock, not after `at`. */
  behind(snapshot: Snapshot, at: number): number {
    // All that ran at the anchor has ended: what this snapshot does not see began after the anchor.
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
