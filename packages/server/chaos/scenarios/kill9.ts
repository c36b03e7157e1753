import { Rng } from '../../sim/rng.ts'
import { duplicatesBounded, factsOf, ROAD_CHECKS } from '../checks.ts'
import { closeBreakers, type Receiver } from '../destinations.ts'
import type { Evidence } from '../evidence.ts'
import { loadFigures, postgresTimes, redeliveryTimes, startTimes, timing } from '../figures.ts'
import { createNemesis } from '../nemesis.ts'
import { sendThrough } from '../road.ts'
import { defineScenario, type Outcome, type Request } from '../scenario.ts'
import type { Stage } from '../stage.ts'
import { storm } from '../storm.ts'

const PERCENT = { orders: 75, returns: 20, alarms: 5 } as const
const DEAD_ROUNDS_MAX = 8
const STARTS_WITHIN_MS = 10_000
const ANSWERS_WITHIN_MS = 5_000
const REDELIVERS_WITHIN_MS = 20_000

/**
 * The waits before each attempt of a failing destination: short enough to see the end of the schedule, long enough to outlast
 * the failure.
 */
const PATIENT = [0, 2, ...Array<number>(90).fill(5)]

function receivers(rng: Rng): readonly Receiver[] {
  return [
    { name: 'steady', datasets: null, maxInFlight: 20, scheme: 'standard', conduct: () => ({ status: 200 }) },
    {
      name: 'slow',
      datasets: ['returns', 'alarms'],
      maxInFlight: 20,
      scheme: 'service',
      conduct: () => ({ status: 200, afterMs: rng.int(20, 200) }),
    },
    {
      name: 'flaky',
      datasets: ['returns'],
      maxInFlight: 10,
      scheme: 'standard',
      scheduleSeconds: [0, ...Array<number>(60).fill(1)],
      conduct: () => (rng.chance(0.25) ? rng.pick(FAULTS) : { status: 200 }),
    },
    {
      name: 'dead',
      datasets: ['alarms'],
      maxInFlight: 5,
      scheme: 'standard',
      scheduleSeconds: PATIENT,
      conduct: () => ({ status: 'hung_up' }),
    },
  ]
}

const FAULTS = [{ status: 500 }, { status: 'hung_up' }, { status: 429, headers: { 'retry-after': '1' } }] as const

/** The whole product dies at random times under load, sometimes including its PostgreSQL, and no promise may break. */
export const kill9 = defineScenario({
  name: 'kill9',
  about: 'SIGKILL of the server, and of its PostgreSQL, under load',
  play,
})

async function play(stage: Stage, request: Request): Promise<Outcome> {
  const { seed, signal, rounds } = request
  const reviveAt = Math.min(DEAD_ROUNDS_MAX, Math.ceil(rounds / 2))
  const { evidence, stopped } = await sendThrough(stage, request, {
    receivers: receivers(new Rng(seed + 1)),
    percent: PERCENT,
    storm: ({ sink, blows, load }) => {
      const nemesis = createNemesis({
        stage,
        rng: new Rng(seed + 2),
        blows,
        answers: load.answers,
        receipts: sink.receipts,
        signal,
      })
      const revive = (): void => sink.conduct('dead', () => ({ status: 200 }))
      const meanwhile = async (round: number): Promise<void> => {
        if (round === reviveAt) revive()
      }
      return storm(request, { nemesis, meanwhile, delivers: true }).finally(revive)
    },
    heal: ({ destinations }) => closeBreakers(stage, destinations),
  })
  return judge(evidence, stopped)
}

function judge(evidence: Evidence, stopped: string | null): Outcome {
  const facts = factsOf(evidence)
  const findings = [...ROAD_CHECKS, duplicatesBounded].map((check) => check(facts))
  const redelivered = redeliveryTimes(evidence)
  const figures = [
    ...loadFigures(evidence),
    timing('server start to first acknowledgment', startTimes(evidence), STARTS_WITHIN_MS),
    timing('PostgreSQL struck to next acknowledgment', postgresTimes(evidence), ANSWERS_WITHIN_MS),
    timing('sender killed to first redelivery', redelivered.first, REDELIVERS_WITHIN_MS),
    timing('sender killed to each redelivery', redelivered.each),
  ]
  return { findings, figures, stopped }
}
