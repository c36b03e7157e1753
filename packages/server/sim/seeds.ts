import type { Plant } from './plants.ts'
import { runSeed, type Mode } from './world.ts'

export const MODES: readonly Mode[] = ['safety', 'liveness']

/** The first broken rule in this many worlds; undefined when no rule was broken. */
export function firstViolation(plant: Plant, seeds: number): string | undefined {
  for (let seed = 0; seed < seeds; seed += 1) {
    for (const mode of MODES) {
      const { violation } = runSeed({ seed, mode, plant })
      if (violation !== null) return violation
    }
  }
  return undefined
}
