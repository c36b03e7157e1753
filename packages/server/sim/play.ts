import { runSeed } from './world.ts'
import type { Plant } from './plants.ts'
import type { WorkflowPlant } from './workflow/plants.ts'
import { runWorkflowSeed } from './workflow/world.ts'
import type { Mode, RunReport } from './world.ts'

/** The delivery core, the delivery core with few slots, or the workflow engine. */
export type WorldName = 'delivery' | 'slots' | 'workflow'

/** Seeds one after another, each with its mode. */
export interface Block {
  readonly from: number
  readonly seeds: number
  readonly mode: Mode | 'both'
  readonly world: WorldName
  readonly plant: Plant | WorkflowPlant | undefined
}

/** The result of a block. It ends at the first seed that broke a rule. */
export interface Played {
  readonly seeds: number
  readonly simulatedMs: number
  readonly totals: Readonly<Record<string, number>>
  readonly broken: { readonly seed: number; readonly mode: Mode; readonly violation: string } | null
}

export function play({ from, seeds, mode, world, plant }: Block, trace?: (line: string) => void): Played {
  const totals: Record<string, number> = {}
  let simulatedMs = 0
  for (let seed = from; seed < from + seeds; seed += 1) {
    const its = modeOf(seed, mode)
    const report = playOne({ seed, mode: its, world, plant }, trace)
    simulatedMs += report.simulatedMs
    addTo(totals, report.counts)
    const { violation } = report
    if (violation !== null)
      return { seeds: seed - from + 1, simulatedMs, totals, broken: { seed, mode: its, violation } }
  }
  return { seeds, simulatedMs, totals, broken: null }
}

type Seed = Pick<Block, 'world' | 'plant'> & { readonly seed: number; readonly mode: Mode }

function playOne({ seed, mode, world, plant }: Seed, trace?: (line: string) => void): RunReport {
  const traced = trace === undefined ? {} : { trace }
  // oxlint-disable typescript/no-unsafe-type-assertion -- the command line gives each world only its own plants
  return world === 'workflow'
    ? runWorkflowSeed({ seed, plant: plant as WorkflowPlant | undefined, ...traced })
    : runSeed({ seed, mode, isOfSlots: world === 'slots', plant: plant as Plant | undefined, ...traced })
  // oxlint-enable typescript/no-unsafe-type-assertion
}

/** Joins two parts of a run. Of two broken seeds, the first is reported. */
export function sum(a: Played, b: Played): Played {
  const totals = { ...a.totals }
  addTo(totals, b.totals)
  const [first, second] = (a.broken?.seed ?? Infinity) <= (b.broken?.seed ?? Infinity) ? [a, b] : [b, a]
  return {
    seeds: a.seeds + b.seeds,
    simulatedMs: a.simulatedMs + b.simulatedMs,
    totals,
    broken: first.broken ?? second.broken,
  }
}

function addTo(totals: Record<string, number>, counts: Played['totals']): void {
  for (const [what, times] of Object.entries(counts)) totals[what] = (totals[what] ?? 0) + times
}

function modeOf(seed: number, mode: Block['mode']): Mode {
  if (mode !== 'both') return mode
  return seed % 2 === 0 ? 'liveness' : 'safety'
}
