import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Rng } from '../../sim/rng.ts'
import { duplicatesBounded, factsOf, ROAD_CHECKS } from '../checks.ts'
import { createDestinations, type Receiver } from '../destinations.ts'
import { drain } from '../drain.ts'
import { gather } from '../evidence.ts'
import { loadFigures, postgresTimes, redeliveryTimes, startTimes, timing, type Report } from '../figures.ts'
import { Ledger } from '../ledger.ts'
import { startLoad } from '../load.ts'
import { createNemesis, planRounds, type Blow } from '../nemesis.ts'
import type { Request, Scenario } from '../scenario.ts'
import { openSink } from '../sink.ts'
import { onStage, type Stage } from '../stage.ts'
import { weather } from '../storm.ts'

/** The whole product dies at random moments under load, its PostgreSQL now and then too, and no promise may break. */
export const kill9: Scenario = { name: 'kill9', about: 'SIGKILL of the server, and of its PostgreSQL, under load', run }

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

async function run(request: Request): Promise<Report> {
  const began = performance.now()
  const { seed, plant, rounds } = request
  const report = await onStage(request, (stage) => play(stage, request))
  const command = `npm run chaos -- kill9 --rounds ${rounds} --seed ${seed} --rate ${request.ratePerSecond} --with-postgres ${request.postgres}`
  return {
    ...report,
    scenario: 'kill9',
    seed,
    plant: plant ?? null,
    tookMs: performance.now() - began,
    repeat: plant === undefined ? command : `CHAOS_PLANT=${plant} ${command}`,
  }
}

type Outcome = Pick<Report, 'ok' | 'findings' | 'figures' | 'stopped'>

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
    const stopped = await weather(load, () => storm(request, { nemesis, revive }))
    await stage.ready()
    request.say('healed; waiting until everything is delivered')
    const drained = await drain(stage, { patienceMs: DRAIN_MS, signal })
    return judge(await gather({ stage, load, sink, destinations, blows: blows.entries, drained }), stopped)
  } finally {
    blows.close()
    await sink.stop()
  }
}

type Storm = { readonly nemesis: ReturnType<typeof createNemesis>; readonly revive: () => void }

/** Plays the rounds, then lets the load run for a moment in peace. Gives why it ended early, or null. */
async function storm({ seed, rounds, postgres, signal, say }: Request, { nemesis, revive }: Storm): Promise<string | null> {
  const plan = planRounds(new Rng(seed), { rounds, postgres })
  try {
    for (const [index, round] of plan.entries()) {
      if (index === Math.min(DEAD_ROUNDS_MAX, Math.ceil(rounds / 2))) revive()
      say(`round ${index + 1} of ${rounds}: ${round.target} ${round.offsetMs} ms after a sign of ${round.after === 'answer' ? 'ingest' : 'delivery'}`)
      // oxlint-disable-next-line no-await-in-loop -- rounds come one after the other
      await nemesis.strike(round)
    }
    await sleep(1_000, undefined, { signal })
    return null
  } catch (error) {
    signal.throwIfAborted()
    return error instanceof Error ? error.message : String(error)
  } finally {
    revive()
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
  const ok = stopped === null && findings.every((finding) => finding.ok) && figures.every((figure) => figure.ok)
  return { ok, findings, figures, stopped }
}
