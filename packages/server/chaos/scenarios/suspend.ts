import { setTimeout as sleep } from 'node:timers/promises'
import { Rng } from '../../sim/rng.ts'
import { encodeId } from '@postroad/contract'
import { systemClock } from '../../src/platform/clock.ts'
import { duplicatesBounded, factsOf, promise, ROAD_CHECKS } from '../checks.ts'
import type { Receiver } from '../destinations.ts'
import type { Evidence } from '../evidence.ts'
import { counted, loadFigures, timing } from '../figures.ts'
import type { Answer } from '../load.ts'
import { signInOperator, type Operator } from '../operator.ts'
import { usedEvents } from '../queries.ts'
import { sendThrough, type Road } from '../road.ts'
import { defineScenario, type Outcome, type Request } from '../scenario.ts'
import type { Stage } from '../stage.ts'

/** One suspension, in ms: requested, in force, and lifted. `used`: the events counted at its start and at its end. */
type Suspension = {
  readonly askedAt: number
  readonly answeredAt: number
  readonly refusedAt: number
  readonly liftedAt: number
  readonly overAt: number
  readonly used: readonly [number, number]
}

const HELD_MS = 2_000
const FREE_MS_MIN = 300
const FREE_MS_MAX = 1_500
const PATIENCE_MS = 20_000
const IN_FORCE_MS = 1_000

/**
 * A workspace is suspended and reinstated under load: nothing is accepted or sent in between, and everything is delivered after
 * it.
 */
export const suspend = defineScenario({
  name: 'suspend',
  about:
    'suspensions by the API of operators under load: nothing is accepted or sent in between, and everything is delivered after it',
  rounds: 4,
  ratePerSecond: 100,
  play,
})

const RECEIVERS: readonly Receiver[] = [
  {
    name: 'steady',
    datasets: null,
    maxInFlight: 20,
    scheme: 'standard',
    timeoutMs: 60_000,
    conduct: () => ({ status: 200 }),
  },
  // Slower than the incoming events, so that many wait when the suspension comes.
  {
    name: 'behind',
    datasets: null,
    maxInFlight: 4,
    scheme: 'service',
    timeoutMs: 60_000,
    conduct: () => ({ status: 200, afterMs: 60 }),
  },
]

async function play(stage: Stage, request: Request): Promise<Outcome> {
  const suspensions: Suspension[] = []
  const { evidence, stopped } = await sendThrough(stage, request, {
    receivers: RECEIVERS,
    percent: { events: 100 },
    storm: (road) => suspendAgainAndAgain(stage, request, { road, suspensions }),
  })
  return judge({ evidence, suspensions }, stopped)
}

async function suspendAgainAndAgain(
  stage: Stage,
  { seed, rounds, signal, say }: Request,
  { road, suspensions }: { road: Road; suspensions: Suspension[] },
): Promise<string | null> {
  const rng = new Rng(seed + 1)
  const operator = await signInOperator(stage)
  for (let round = 1; round <= rounds; round += 1) {
    const freeMs = rng.int(FREE_MS_MIN, FREE_MS_MAX)
    say(`round ${round} of ${rounds}: suspended after ${freeMs} ms`)
    // oxlint-disable-next-line no-await-in-loop -- one suspension after the other
    await sleep(freeMs, undefined, { signal })
    // oxlint-disable-next-line no-await-in-loop -- as above
    const suspension = await suspendOnce(stage, { operator, road }, signal)
    if (suspension === undefined) return 'Reinstated, but nothing is accepted'
    suspensions.push(suspension)
  }
  return null
}

async function suspendOnce(
  stage: Stage,
  { operator, road: { load } }: { operator: Operator; road: Road },
  signal: AbortSignal,
): Promise<Suspension | undefined> {
  const path = `platform/workspaces/${encodeId('workspace', stage.workspaceId)}`
  const clock = systemClock()
  const within = { patienceMs: PATIENCE_MS, signal }
  const askedAt = clock.now()
  const refused = load.answers.next(({ status, sentAt }) => status === 403 && sentAt >= askedAt, within)
  await operator('POST', `${path}/suspend`, { reason: 'chaos' })
  const answeredAt = clock.now()
  const first = await Promise.race([refused, sleep(HELD_MS, undefined, { signal })])
  const refusedAt = first === undefined ? clock.now() : first.at
  // Events that were on their way to the store when the suspension came have been counted by then.
  await sleep(IN_FORCE_MS, undefined, { signal })
  const before = await countUsed(stage)
  await sleep(HELD_MS, undefined, { signal })
  const used = [before, await countUsed(stage)] as const
  const liftedAt = clock.now()
  const accepted = load.answers.next(({ status, sentAt }) => status === 201 && sentAt >= liftedAt, within)
  await operator('POST', `${path}/reinstate`)
  const overAt = (await accepted)?.at
  return overAt === undefined ? undefined : { askedAt, answeredAt, refusedAt, liftedAt, overAt, used }
}

async function countUsed(stage: Stage): Promise<number> {
  const database = stage.openDatabase()
  try {
    return await usedEvents(database, { workspaceId: stage.workspaceId })
  } finally {
    await database.close()
  }
}

/** In force from the first refusal, or from a second after the API's answer if that is later, until it is lifted. */
const isWithin = (at: number, { answeredAt, refusedAt, liftedAt }: Suspension): boolean =>
  at > Math.max(answeredAt + IN_FORCE_MS, refusedAt) && at < liftedAt
const isExpected = ({ status, at, sentAt }: Answer, { askedAt, overAt }: Suspension): boolean =>
  status === 403 && at >= askedAt && sentAt <= overAt

function judge(
  { evidence, suspensions }: { evidence: Evidence; suspensions: readonly Suspension[] },
  stopped: string | null,
): Outcome {
  const within = (at: number): boolean => suspensions.some((one) => isWithin(at, one))
  // A refusal is the right answer during a suspension, but not at any other time.
  const others = evidence.answers.filter((answer) => !suspensions.some((one) => isExpected(answer, one)))
  const facts = factsOf({ ...evidence, answers: others })
  const begun = evidence.attempts.filter((attempt) => within(attempt.started_at.getTime())).map(({ id }) => id)
  const findings = [
    ...[...ROAD_CHECKS, duplicatesBounded].map((check) => check(facts)),
    promise('started while suspended', begun),
    promise(
      'accepted while suspended',
      evidence.answers.filter(({ status, sentAt }) => status === 201 && within(sentAt)).map(({ event }) => event),
    ),
    promise(
      'counted while suspended',
      suspensions.flatMap(({ used: [before, after] }) => (before === after ? [] : [`${before} became ${after}`])),
    ),
    promise(
      'suspended, but never refused',
      suspensions
        .filter((one) => !evidence.answers.some((answer) => isExpected(answer, one)))
        .map(({ askedAt }) => String(askedAt)),
    ),
  ]
  const figures = [
    ...loadFigures(evidence),
    counted('suspensions, refusals', `${suspensions.length}, ${evidence.answers.length - others.length}`),
    timing(
      'suspension to first refusal',
      suspensions.map(({ answeredAt, refusedAt }) => Math.max(0, refusedAt - answeredAt)),
      IN_FORCE_MS,
    ),
  ]
  return { findings, figures, stopped }
}
