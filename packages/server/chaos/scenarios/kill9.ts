import { join } from 'node:path'
import { Rng } from '../../sim/rng.ts'
import { duplicatesBounded, factsOf, ROAD_CHECKS } from '../checks.ts'
import { createDestinations, type Receiver } from '../destinations.ts'
import { drain } from '../drain.ts'
import { gather } from '../evidence.ts'
import { loadFigures, postgresTimes, redeliveryTimes, startTimes, timing } from '../figures.ts'
import { Ledger } from '../ledger.ts'
import { startLoad } from '../load.ts'
import { createNemesis, type Blow } from '../nemesis.ts'
import { defineScenario, type Outcome, type Request } from '../scenario.ts'
import { openSink } from '../sink.ts'
import type { Stage } from '../stage.ts'
import { storm, weather } from '../storm.ts'


const PERCENT = { orders: 75, returns: 20, alarms: 5 } as const
const DEAD_ROUNDS_MAX = 8
const DRAIN_MS = 120_000
const STARTS_WITHIN_MS = 10_000
const ANSWERS_WITHIN_MS = 5_000
const REDELIVERS_WITHIN_MS = 20_000

/** The waits before each attempt of a destination that fails: short enough to see the end of it, long enough to outlast it. */
const PATIENT = [0, 2, ...Array<number>(90).fill(5)]

function receivers(rng: Rng): readonly Receiver[] {
  return [
    { name: 'steady', datasets: null, maxInFlight: 20, scheme: 'standard', conduct: () => ({ status: 200 }) },
    { name: 'slow', datasets: ['returns', 'alarms'], maxInFlight: 20, scheme: 'service', conduct: () => ({ status: 200, afterMs: rng.int(20, 200) }) },
    {
      name: 'flaky',
      datasets: ['returns'],
      maxInFlight: 10,
      scheme: 'standard',
      scheduleSeconds: [0, ...Array<number>(60).fill(1)],
      conduct: () => (rng.chance(0.25) ? rng.pick(FAULTS) : { status: 200 }),
    },
    { name: 'dead', datasets: ['alarms'], maxInFlight: 5, scheme: 'standard', scheduleSeconds: PATIENT, conduct: () => ({ status: 'hung_up' }) },
  ]
}

const FAULTS = [{ status: 500 }, { status: 'hung_up' }, { status: 429, headers: { 'retry-after': '1' } }] as const

/** The whole product dies at random moments under load, its PostgreSQL now and then too, and no promise may break. */
export const kill9 = defineScenario({ name: 'kill9', about: 'SIGKILL of the server, and of its PostgreSQL, under load', play })

async function play(stage: Stage, request: Request): Promise<Outcome> {
  const { seed, signal } = request
  const sink = await openSink(stage.folder)
  const blows = new Ledger<Blow>(join(stage.folder, 'blows.jsonl'))
  try {
    const destinations = await createDestinations({ stage, sink }, receivers(new Rng(seed + 1)))
    const urlOf = (dataset: string): string => `${stage.endpoint}/${dataset}`
    const load = startLoad({ folder: stage.folder, seed, ratePerSecond: request.ratePerSecond, urlOf, percent: PERCENT })
    const nemesis = createNemesis({ stage, rng: new Rng(seed + 2), blows, answers: load.answers, receipts: sink.receipts, signal })
    const revive = (): void => sink.conduct('dead', () => ({ status: 200 }))
    const reviveAt = Math.min(DEAD_ROUNDS_MAX, Math.ceil(request.rounds / 2))
    const meanwhile = async (round: number): Promise<void> => {
      if (round === reviveAt) revive()
    }
    const stopped = await weather(load, () => storm(request, { nemesis, meanwhile, delivers: true }).finally(revive))
    await stage.ready()
    await closeBreakers(stage, destinations)
    request.say('healed; waiting until everything is delivered')
    const drained = await drain(stage, { patienceMs: DRAIN_MS, signal })
    return judge(await gather({ stage, load, sink, destinations, blows: blows.entries, drained }), stopped)
  } finally {
    blows.close()
    await sink.stop()
  }
}

/** As a person does who knows that a receiver works again and does not wait for the next probe: off and on. */
async function closeBreakers(stage: Stage, destinations: readonly { readonly id: string }[]): Promise<void> {
  for (const { id } of destinations) {
    for (const enabled of [false, true]) {
      // oxlint-disable-next-line no-await-in-loop -- in this order
      await stage.admin('PATCH', `destinations/${id}`, { enabled })
    }
  }
}

function judge(evidence: Awaited<ReturnType<typeof gather>>, stopped: string | null): Outcome {
  const facts = factsOf(evidence)
  const findings = [...ROAD_CHECKS, duplicatesBounded].map((check) => check(facts))
  const redelivered = redeliveryTimes(evidence)
  const figures = [
    ...loadFigures(evidence),
    timing('server start to first acknowledgement', startTimes(evidence), STARTS_WITHIN_MS),
    timing('PostgreSQL struck to next acknowledgement', postgresTimes(evidence), ANSWERS_WITHIN_MS),
    timing('sender killed to first redelivery', redelivered.first, REDELIVERS_WITHIN_MS),
    timing('sender killed to each redelivery', redelivered.each),
  ]
  return { findings, figures, stopped }
}
