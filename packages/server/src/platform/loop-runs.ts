import type { Clock } from './clock.ts'

/** The state of the background loops of this process. */
export type LoopRuns = {
  ended(name: string, how: 'well' | 'badly'): void
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
}

export function createLoopRuns(clock: Clock): LoopRuns {
  const runs = new Map<string, LoopRun>()
  return {
    ended: (name, how) => {
      const now = clock.now()
      const before = runs.get(name)
      runs.set(name, {
        name,
        lastRunAt: how === 'well' ? now : before?.lastRunAt,
        lastFailedAt: how === 'badly' ? now : before?.lastFailedAt,
        failing: how === 'badly',
      })
    },
    list: () => [...runs.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1)),
  }
}
