import type { Clock } from './clock.ts'

/** The state of the background loops of this process. */
export type LoopRuns = {
  ended(name: string, how: { readonly well: boolean; readonly failedRows: number }): void
  /** The loops that have run here, in the order of their names. */
  list(): readonly LoopRun[]
}

export type LoopRun = {
  readonly name: string
  /** When a run last ended well, and when one last failed; milliseconds. */
  readonly lastRunAt: number | undefined
  readonly lastFailedAt: number | undefined
  /** Whether the last run failed. */
  readonly failing: boolean
  /** The rows that failed in the last run, which went on with the others. */
  readonly failedRows: number
}

export function createLoopRuns(clock: Clock): LoopRuns {
  const runs = new Map<string, LoopRun>()
  return {
    ended: (name, { well, failedRows }) => {
      const now = clock.now()
      const before = runs.get(name)
      runs.set(name, {
        name,
        lastRunAt: well ? now : before?.lastRunAt,
        lastFailedAt: well ? before?.lastFailedAt : now,
        failing: !well,
        failedRows,
      })
    },
    list: () => [...runs.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1)),
  }
}
