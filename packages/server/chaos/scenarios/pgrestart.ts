import { setTimeout as sleep } from 'node:timers/promises'
import { Rng } from '../../sim/rng.ts'
import { systemClock } from '../../src/platform/clock.ts'
import { duplicatesBounded, factsOf, promise, ROAD_CHECKS } from '../checks.ts'
import type { Receiver } from '../destinations.ts'
import type { Evidence } from '../evidence.ts'
import { loadFigures, postgresTimes, timing } from '../figures.ts'
import type { Blow } from '../nemesis.ts'
import { sendThrough, type Road } from '../road.ts'
import { defineScenario, type Outcome, type Request } from '../scenario.ts'
import type { Stage } from '../stage.ts'

const SIGN_MS = 60_000
const CALM_MS_MAX = 1_500
/** From the blow to the next 201, on a machine that does nothing else. */
const BACK_WITHIN_MS = 2_000

const RECEIVERS: readonly Receiver[] = [
  { name: 'receiver', datasets: null, maxInFlight: 20, scheme: 'standard', conduct: () => ({ status: 200 }) },
]

/** PostgreSQL restarts under load, asked or killed, and the server lives on: no sender gets an error. */
export const pgrestart = defineScenario({
  name: 'pgrestart',
  about: 'PostgreSQL is restarted or killed under load while the server lives on: no request fails',
  rounds: 20,
  play,
})

async function play(stage: Stage, request: Request): Promise<Outcome> {
  const { evidence, stopped } = await sendThrough(stage, request, {
    receivers: RECEIVERS,
    percent: { events: 100 },
    storm: (road) => restartAgain(stage, request, road),
  })
  return judge(evidence, { stopped, isShort: request.isShort })
}

const TARGETS = ['restart', 'postmaster', 'backend'] as const

/** Each round waits for an acknowledgment, and for some time more. */
async function restartAgain(
  stage: Stage,
  { seed, rounds, signal, say }: Request,
  { load, blows }: Road,
): Promise<string | null> {
  const [rng, clock] = [new Rng(seed), systemClock()]
  for (let round = 1; round <= rounds; round += 1) {
    const since = clock.now()
    // oxlint-disable-next-line no-await-in-loop -- one round after the other
    const sign = await load.answers.next((answer) => answer.status === 201 && answer.sentAt >= since, {
      patienceMs: SIGN_MS,
      signal,
    })
    if (sign === undefined) return `There was no answer for ${SIGN_MS / 1_000} s after the last blow`
    const [target, waitMs] = [rng.pick(TARGETS), rng.int(0, CALM_MS_MAX)]
    say(`round ${round} of ${rounds}: ${target}, ${waitMs} ms after a sign of ingest`)
    // oxlint-disable-next-line no-await-in-loop -- as above
    await sleep(waitMs, undefined, { signal })
    const at = clock.now()
    if (strike(stage, { target, rng })) blows.note({ target, at })
  }
  const since = clock.now()
  await load.answers.next((answer) => answer.sentAt >= since, { patienceMs: SIGN_MS, signal })
  return null
}

function strike(
  { postgres }: Stage,
  { target, rng }: { readonly target: Exclude<Blow['target'], 'server'>; readonly rng: Rng },
): boolean {
  if (target === 'restart') return postgres.askPostmaster()
  return target === 'postmaster' ? postgres.killPostmaster() : postgres.signalBackend('SIGKILL', rng)
}

function judge(
  evidence: Evidence,
  { stopped, isShort }: { readonly stopped: string | null; readonly isShort: boolean },
): Outcome {
  const facts = factsOf(evidence)
  const failed = evidence.answers.filter(({ status }) => status !== 201)
  return {
    findings: [
      ...[...ROAD_CHECKS, duplicatesBounded].map((check) => check(facts)),
      promise(
        'failed requests',
        failed.map((answer) => JSON.stringify(answer)),
      ),
    ],
    figures: [
      ...loadFigures(evidence),
      timing('PostgreSQL struck to next acknowledgment', postgresTimes(evidence), isShort ? undefined : BACK_WITHIN_MS),
    ],
    stopped,
  }
}
