import type { Report } from './figures.ts'
import type { PlanOptions } from './nemesis.ts'
import { onStage, type Stage } from './stage.ts'

/** The parameters of a run, from the command line or from a test. */
export type Request = {
  readonly seed: number
  readonly rounds: number
  readonly ratePerSecond: number
  readonly postgres: PlanOptions['postgres']
  readonly plant: string | undefined
  /** The form for tests: it takes seconds, so it waits for nothing that only comes with time. */
  readonly isShort: boolean
  /** Leaves the folder with the ledgers and the server's log. */
  readonly keep: boolean
  readonly signal: AbortSignal
  readonly say: (line: string) => void
}

/** One experiment: it composes load, nemesis, sinks and checks, and reports. */
export type Scenario = {
  readonly name: string
  readonly about: string
  readonly rounds: number
  readonly ratePerSecond: number
  readonly run: (request: Request) => Promise<Report>
}

/** The result of a scenario. `stopped`: the reason why it ended early. */
export type Outcome = Pick<Report, 'findings' | 'figures' | 'stopped'>

export type Play = {
  readonly name: string
  readonly about: string
  /** How many processes of the server share the port. Defaults to 1. */
  readonly processes?: number
  /** Gives the server the scenario's own name server. */
  readonly hasNames?: boolean
  /** Settings of the server besides those of every stage. */
  readonly env?: Readonly<Record<string, string>>
  /** Used without a value on the command line. Defaults to 30. */
  readonly rounds?: number
  /** Events sent per second without a value on the command line. Defaults to 200. */
  readonly ratePerSecond?: number
  readonly play: (stage: Stage, request: Request) => Promise<Outcome>
}

/** Prepares a stage for each run. The report contains the broken promises, if any, and the command to repeat the run. */
export function defineScenario({
  name,
  about,
  processes = 1,
  hasNames = false,
  env = {},
  play,
  ...defaults
}: Play): Scenario {
  const run = async (request: Request): Promise<Report> => {
    const began = performance.now()
    const { seed, plant, rounds, ratePerSecond, postgres } = request
    const { findings, figures, stopped } = await onStage({ ...request, processes, hasNames, env }, (stage) =>
      play(stage, request),
    )
    const command = `npm run chaos -- ${name} --rounds ${rounds} --seed ${seed} --rate ${ratePerSecond} --with-postgres ${postgres}`
    return {
      ok: stopped === null && findings.every((finding) => finding.ok) && figures.every((figure) => figure.ok),
      findings,
      figures,
      stopped,
      scenario: name,
      seed,
      plant: plant ?? null,
      tookMs: performance.now() - began,
      repeat: plant === undefined ? command : `CHAOS_PLANT=${plant} ${command}`,
    }
  }
  return { name, about, rounds: defaults.rounds ?? 30, ratePerSecond: defaults.ratePerSecond ?? 200, run }
}
