import type { Report } from './figures.ts'
import type { PlanOptions } from './nemesis.ts'
import { onStage, type Stage } from './stage.ts'

/** What the command line, or a test, asks of a run. */
export type Request = {
  readonly seed: number
  readonly rounds: number
  readonly ratePerSecond: number
  readonly postgres: PlanOptions['postgres']
  readonly plant: string | undefined
  /** As a test wants it: over in seconds, so nothing is waited for that time alone would bring. */
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

/** What a scenario found; `stopped`: why it ended early. */
export type Outcome = Pick<Report, 'findings' | 'figures' | 'stopped'>

export type Play = {
  readonly name: string
  readonly about: string
  /** How many processes of the server share the port; 1 when left out. */
  readonly processes?: number
  /** Gives the server a name server of the scenario's own. */
  readonly hasNames?: boolean
  /** When the command line does not say; 30 when left out. */
  readonly rounds?: number
  /** Events sent in a second when the command line does not say; 200 when left out. */
  readonly ratePerSecond?: number
  readonly play: (stage: Stage, request: Request) => Promise<Outcome>
}

/** Sets a stage for each run, and says in its report whether every promise held and how to run the same again. */
export function defineScenario({ name, about, processes = 1, hasNames = false, play, ...defaults }: Play): Scenario {
  const run = async (request: Request): Promise<Report> => {
    const began = performance.now()
    const { seed, plant, rounds, ratePerSecond, postgres } = request
    const { findings, figures, stopped } = await onStage({ ...request, processes, hasNames }, (stage) =>
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
