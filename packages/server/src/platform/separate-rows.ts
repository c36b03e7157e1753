import { encodeId, type IdKind } from '@postroad/contract'
import type { RetryLog } from './retry-log.ts'

/** The rows that a run of a loop worked on, and those that failed and were left out. */
export type LoopWork = { readonly rows: number; readonly failed: number }

type Row = { readonly kind: IdKind; readonly id: string }

/** Runs the rows of a loop separately. A row that fails is logged and left out until the next run, and the others continue. */
export class SeparateRows {
  readonly #retryLog: RetryLog
  readonly #event: string
  readonly #failed = new Set<string>()
  #worked = 0

  constructor(retryLog: RetryLog, event: string) {
    this.#retryLog = retryLog
    this.#event = event
  }

  /** The ids of the rows that failed in this run. */
  get failed(): readonly string[] {
    return [...this.#failed]
  }

  /** The result of the run. */
  get outcome(): LoopWork {
    return { rows: this.#worked, failed: this.#failed.size }
  }

  leaveOut({ kind, id }: Row, cause: unknown): void {
    this.#failed.add(id)
    this.#retryLog.warn(this.#event, { id: encodeId(kind, id), cause })
  }

  /** Throws if a row failed in this run, for a caller that reports its failures. */
  report(): void {
    const count = this.#failed.size
    if (count > 0)
      throw new Error(`${count} failed, and the log names ${count === 1 ? 'it' : 'them'} as "${this.#event}".`)
  }

  /** Returns the result of `work`, or undefined if the row has failed in this run. */
  async run<Result>(row: Row, work: () => Promise<Result>): Promise<Result | undefined> {
    if (this.#failed.has(row.id)) return undefined
    try {
      const result = await work()
      this.#worked += 1
      return result
    } catch (cause) {
      this.leaveOut(row, cause)
      return undefined
    }
  }
}
