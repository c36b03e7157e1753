import type { Report } from './figures.ts'
import type { PlanOptions } from './nemesis.ts'

/** What the command line, or a test, asks of a run. */
export type Request = {
  readonly seed: number
  readonly rounds: number
  readonly ratePerSecond: number
  readonly postgres: PlanOptions['postgres']
  readonly plant: string | undefined
  /** Leaves the folder with the ledgers and the server's log. */
  readonly keep: boolean
  readonly signal: AbortSignal
  readonly say: (line: string) => void
}

/** One experiment: it composes load, nemesis, sinks and checks, and reports. */
export type Scenario = { readonly name: string; readonly about: string; readonly run: (request: Request) => Promise<Report> }
