import type { Plant } from './plants.ts'
import { runSeed, type Mode, type RunInput } from './world.ts'

export const MODES: readonly Mode[] = ['safety', 'liveness']

/** The first broken rule in this many worlds; undefined when no rule was broken. */
export function firstViolation(
  plant: Plant,
  seeds: number,
  world: Pick<RunInput, 'isOfSlots'> = {},
): string | undefined {
  // oxlint-disable-line max-params -- the plant, the number of worlds, and their kind
  for (let seed = 0; seed < seeds; seed += 1) {
    for (const mode of MODES) {
      const { violation } = runSeed({ ...world, seed, mode, plant })
      if (violation !== null) return violation
    }
  }
  return undefined
}
