import { setTimeout as sleep } from 'node:timers/promises'
import { Rng } from '../../sim/rng.ts'
import { systemClock } from '../../src/platform/clock.ts'
import { duplicatesBefore, duplicatesBounded, factsOf, ROAD_CHECKS } from '../checks.ts'
import type { Receiver } from '../destinations.ts'
import { counted, loadFigures, redeliveryTimes, timing } from '../figures.ts'
import { killSender, sendThrough, type Road } from '../road.ts'
import { defineScenario, type Outcome, type Request } from '../scenario.ts'
import type { Stage } from '../stage.ts'

const PROCESSES = 3
const RECEIVERS = 5
const MAX_IN_FLIGHT = 4
/**
 * The rate of events, each for every receiver: half of the capacity of the slots, because an answer occupies its slot for 22
 * ms.
 */
const RATE = 100
/** The part without a fault, and so without an excuse for a repeat: this many deliveries, or as many as come within this time. */
const CALM = { full: { deliveries: 100_000, ms: 600_000 }, short: { deliveries: Infinity, ms: 3_000 } }
/** The requests of a dead process take its slots until the latest time of their end, so the slots become free within seconds. */
const TIMEOUT_MS = 1_000
/** The share of events once processes die: the remaining slots must keep up with them. */
const STORM_PERCENT = 10
const LOOK_MS = 50
const OFFSET_MS_MAX = 200
const PATIENCE_MS = 60_000
const REDELIVERS_WITHIN_MS = 20_000

/**
 * Sending processes die while they send. No more requests arrive twice than they had under way, and none before the first
 * death.
 */
export const dup = defineScenario({
  name: 'dup',
  about:
    'SIGKILL of processes while they deliver: no more repeats than requests in flight, and none in 100,000 deliveries before',
  processes: PROCESSES,
  rounds: 100,
  ratePerSecond: RATE,
  play,
})

async function play(stage: Stage, request: Request): Promise<Outcome> {
  const rng = new Rng(request.seed + 1)
  const receivers = Array.from({ length: RECEIVERS }, (_none, n): Receiver => ({
    name: `receiver-${n + 1}`,
    datasets: ['events'],
    maxInFlight: MAX_IN_FLIGHT,
    timeoutMs: TIMEOUT_MS,
    scheme: 'standard',
    conduct: () => ({ status: 200, afterMs: rng.int(5, 40) }),
  }))
  let calmUntil = Infinity
  const { evidence, stopped } = await sendThrough(stage, request, {
    receivers,
    percent: () => (calmUntil === Infinity ? { events: 100 } : { events: STORM_PERCENT, unsent: 100 - STORM_PERCENT }),
    storm: async (road) => {
      await spendCalm(road, request)
      calmUntil = systemClock().now()
      return killAgainAndAgain(stage, request, road)
    },
  })
  const facts = factsOf(evidence)
  const findings = [...ROAD_CHECKS, duplicatesBounded, duplicatesBefore(calmUntil)].map((check) => check(facts))
  const { first } = redeliveryTimes(evidence)
  const redelivered = timing('process killed to first redelivery', first, REDELIVERS_WITHIN_MS)
  const inCalm = evidence.receipts.filter(({ at }) => at < calmUntil).length
  const figures = [
    ...loadFigures(evidence),
    counted('processes killed', evidence.blows.length),
    {
      figure: 'deliveries before the first death',
      value: String(inCalm),
      limit: `min ${CALM.full.deliveries}`,
      ok: inCalm >= CALM.full.deliveries,
    },
    // If no death cut a delivery off, there is nothing to measure, and nothing is proven.
    { ...redelivered, ok: redelivered.ok && first.length > 0 },
  ]
  return { findings, figures, stopped }
}

async function spendCalm({ sink }: Road, { isShort, signal, say }: Request): Promise<void> {
  const { deliveries, ms } = isShort ? CALM.short : CALM.full
  if (!isShort) say(`calm phase, until ${deliveries} deliveries have arrived`)
  const end = performance.now() + ms
  // oxlint-disable-next-line no-await-in-loop -- one look at a time
  while (sink.receipts.entries.length < deliveries && performance.now() < end)
    await sleep(LOOK_MS, undefined, { signal })
}

/** All processes die, one shortly after the other. The next ones die when the deliveries of these must have been sent again. */
async function killAgainAndAgain(
  stage: Stage,
  { seed, rounds, signal, say }: Request,
  { sink, blows }: Road,
): Promise<string | null> {
  const rng = new Rng(seed + 2)
  const clock = systemClock()
  for (let round = 1; round <= rounds; round += 1) {
    const isFirst = (round - 1) % PROCESSES === 0
    // oxlint-disable-next-line no-await-in-loop -- rounds come one after the other
    if (isFirst && round > 1) await sleep(REDELIVERS_WITHIN_MS, undefined, { signal })
    const since = clock.now()
    // oxlint-disable-next-line no-await-in-loop -- as above
    const sign = isFirst
      ? await sink.receipts.next((receipt) => receipt.at >= since, { patienceMs: PATIENCE_MS, signal })
      : undefined
    if (isFirst && sign === undefined) return `Nothing was delivered for ${PATIENCE_MS / 1_000} s after the last death`
    const offsetMs = rng.int(0, OFFSET_MS_MAX)
    say(`round ${round} of ${rounds}: a process dies ${offsetMs} ms after ${isFirst ? 'a delivery' : 'the one before'}`)
    // oxlint-disable-next-line no-await-in-loop -- as above
    await sleep(offsetMs, undefined, { signal })
    // oxlint-disable-next-line no-await-in-loop -- as above
    await killSender(stage, { rng, blows })
  }
  return null
}
