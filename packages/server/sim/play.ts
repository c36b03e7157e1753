import { runSeed } from './world.ts'
import type { Plant } from './plants.ts'
import type { Mode } from './world.ts'

/** Seeds one after another, each with its mode. */
export interface Block {
  readonly from: number
  readonly seeds: number
  readonly mode: Mode | 'both'
  readonly plant: Plant | undefined
}

/** The result of a block. It ends at the first seed that broke a rule. */
export interface Played {
  readonly seeds: number
  readonly simulatedMs: number
  readonly totals: Readonly<Record<string, number>>
  readonly broken: { readonly seed: number; readonly mode: Mode; readonly violation: string } | null
}

export function play({ from, seeds, mode, plant }: Block, trace?: (line: string) => void): Played {
  const totals: Record<string, number> = {}
  let simulatedMs = 0
  for (let seed = from; seed < from + seeds; seed += 1) {
    const its = modeOf(seed, mode)
    const report = runSeed({ seed, mode: its, plant, ...(trace === undefined ? {} : { trace }) })
    simulatedMs += report.simulatedMs
    addTo(totals, report.counts)
    const { violation } = report
    if (violation !== null)
      return { seeds: seed - from + 1, simulatedMs, totals, broken: { seed, mode: its, violation } }
  }
  return { seeds, simulatedMs, totals, broken: null }
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
