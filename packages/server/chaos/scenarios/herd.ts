import { setTimeout as sleep } from 'node:timers/promises'
import { LIMITS } from '@postroad/contract'
import { systemClock } from '../../src/platform/clock.ts'
import { duplicatesBounded, factsOf, promise, ROAD_CHECKS } from '../checks.ts'
import { findOpenBreakers, type Receiver } from '../destinations.ts'
import type { DestinationFact, Evidence } from '../evidence.ts'
import { counted, loadFigures, seconds, type Figure } from '../figures.ts'
import { arrivals, slowdown, type Span } from '../latency.ts'
import { letProbesBeDue } from '../queries.ts'
import { sendThrough, type Road } from '../road.ts'
import { defineScenario, type Outcome, type Request } from '../scenario.ts'
import type { Receipt } from '../sink.ts'
import type { Stage } from '../stage.ts'

const OTHERS = ['other-1', 'other-2', 'other-3']
const CAPPED = { name: 'capped', maxInFlight: 10 } as const
const RATED = { name: 'rated', maxInFlight: 20, ratePerSecond: 200 } as const
const RETURNING = [CAPPED.name, RATED.name]
const ANSWER_MS = 20
/**
 * The backlog of the first destination when it comes back, in the full form: its own events in addition to those for
 * all destinations.
 */
const BACKLOG = { events: 100_000, perSecond: 1_000, ms: 300_000 }
const DRAIN_MS = 900_000
const WARM_MS = 2_000
/** In the full form, calm and drain each span several runs of autovacuum, which slow everything down briefly. */
const ROUND_MS = { full: 10_000, short: 2_000 }
/** The time before the first probe of an open breaker, so that the backlog is not small. */
const BEFORE_PROBE_MS = 1_500
const LOOK_MS = 100
const PATIENCE_MS = 60_000
/** Long, so that on a slow machine no living destination counts as dead. */
const TIMEOUT_MS = 60_000
const RATIO_MAX = 1.5
const BUCKET_RATIO_MAX = 3
/** The waits before each attempt of a failing destination: long enough to outlast the outage. */
const PATIENT = [0, 2, ...Array<number>(90).fill(5)]

/**
 * Two destinations come back after an outage with all events that were sent meanwhile: one with a limit in flight, one with a
 * rate.
 */
export const herd = defineScenario({
  name: 'herd',
  about:
    'destinations that come back to a backlog: a ramp, never more than their caps and rates, and no effect on the others',
  rounds: 12,
  ratePerSecond: 100,
  play,
})

type Outage = { readonly calm: Span; readonly drain: Span; readonly revivedAt: number }

async function play(stage: Stage, request: Request): Promise<Outcome> {
  const { signal, rounds, ratePerSecond, isShort, say } = request
  const clock = systemClock()
  const share = (100 * ratePerSecond) / (ratePerSecond + BACKLOG.perSecond)
  let [isDown, isFilling] = [false, false]
  let outage: Outage = { calm: NEVER, drain: NEVER, revivedAt: Infinity }
  const conduct: Receiver['conduct'] = () => (isDown ? { status: 503 } : { status: 200, afterMs: ANSWER_MS })
  const back = { scheme: 'standard', timeoutMs: TIMEOUT_MS, scheduleSeconds: PATIENT, conduct } as const
  const others = OTHERS.map((name): Receiver => ({
    name,
    datasets: ['events'],
    maxInFlight: 20,
    scheme: 'service',
    timeoutMs: TIMEOUT_MS,
    conduct: () => ({ status: 200 }),
  }))
  const roundMs = isShort ? ROUND_MS.short : ROUND_MS.full
  const span = async (): Promise<Span> => {
    const from = clock.now()
    await sleep(rounds * roundMs, undefined, { signal })
    return { from, to: clock.now() }
  }
  const { evidence, stopped } = await sendThrough(stage, request, {
    receivers: [{ ...CAPPED, ...back, datasets: null }, { ...RATED, ...back, datasets: ['events'] }, ...others],
    percent: () => (isFilling ? { events: share, backlog: 100 - share } : { events: 100 }),
    ratePerSecond: () => (isFilling ? ratePerSecond + BACKLOG.perSecond : ratePerSecond),
    ...(isShort ? {} : { drainMs: DRAIN_MS }),
    storm: async (road) => {
      await sleep(isShort ? 0 : WARM_MS, undefined, { signal })
      const calm = await span()
      isDown = true
      say('down; waiting until the breakers are open and the backlog is large')
      if (!(await haveOpened(stage, signal))) {
        // Otherwise the deliveries would never end, and the run would wait for them.
        isDown = false
        return 'The breakers did not open'
      }
      isFilling = !isShort
      if (!isShort) await filled(road, request)
      isFilling = false
      await (isShort ? passTime(stage, road) : nearProbe(stage, signal))
      isDown = false
      const revivedAt = clock.now()
      say('up again')
      outage = { calm, revivedAt, drain: await span() }
      return null
    },
  })
  return judge(evidence, outage, stopped)
}

const NEVER: Span = { from: 0, to: 0 }

async function haveOpened(stage: Stage, signal: AbortSignal): Promise<boolean> {
  const end = performance.now() + PATIENCE_MS
  while ((await findOpenBreakers(stage)).length < RETURNING.length) {
    if (performance.now() > end) return false
    // oxlint-disable-next-line no-await-in-loop -- one look at a time
    await sleep(LOOK_MS, undefined, { signal })
  }
  return true
}

async function filled({ load }: Road, { signal, say }: Request): Promise<void> {
  say(`${BACKLOG.events} events for a destination that is down`)
  const end = performance.now() + BACKLOG.ms
  const count = (): number => load.sent.entries.filter(({ dataset }) => dataset === 'backlog').length
  // oxlint-disable-next-line no-await-in-loop -- one look at a time
  while (count() < BACKLOG.events && performance.now() < end) await sleep(LOOK_MS, undefined, { signal })
}

async function nearProbe(stage: Stage, signal: AbortSignal): Promise<void> {
  const open = await findOpenBreakers(stage)
  await sleep(
    Math.max(0, Math.min(...open.map(({ waitsUntil }) => waitsUntil)) - systemClock().now() - BEFORE_PROBE_MS),
    undefined,
    { signal },
  )
}

/** The short form does not wait for a probe: the sender dies, and the next sender finds the probe due. */
async function passTime(stage: Stage, { blows }: Road): Promise<void> {
  blows.note({ target: 'server', at: systemClock().now() })
  await stage.server.kill()
  const database = stage.openDatabase()
  try {
    await letProbesBeDue(database, { workspaceId: stage.workspaceId })
  } finally {
    await database.close()
  }
  stage.server.start()
}

function judge(evidence: Evidence, { calm, drain, revivedAt }: Outage, stopped: string | null): Outcome {
  const facts = factsOf(evidence)
  const since = Map.groupBy(
    evidence.receipts.filter(({ at }) => at >= revivedAt),
    ({ destination }) => destination,
  )
  const returned = RETURNING.map((name) => since.get(name) ?? [])
  const findings = [
    ...[...ROAD_CHECKS, duplicatesBounded].map((check) => check(facts)),
    promise('more at once than a destination allows', overCap(evidence)),
    promise('more at once than the ramp allows', returned.flatMap(overRamp)),
    promise('faster than its rate', overRate(since.get(RATED.name) ?? [], revivedAt)),
    promise(
      'came back without a backlog',
      RETURNING.filter((name) => backlogOf(evidence, { name, revivedAt }) === 0),
    ),
  ]
  const figures = [
    ...loadFigures(evidence),
    waited(backlogOf(evidence, { name: CAPPED.name, revivedAt })),
    counted(`${RATED.name}: backlog when it came back`, backlogOf(evidence, { name: RATED.name, revivedAt })),
    ...drainOf(returned[0] ?? [], { name: CAPPED.name, perSecondMax: (CAPPED.maxInFlight * 1_000) / ANSWER_MS }),
    ...drainOf(returned[1] ?? [], { name: RATED.name, perSecondMax: RATED.ratePerSecond }),
    slowdown('time from sent to received, others', {
      before: arrivals(evidence, { ...calm, names: OTHERS }),
      during: arrivals(evidence, { ...drain, names: OTHERS }),
      ratioMax: RATIO_MAX,
    }),
  ]
  return { findings, figures, stopped }
}

function overCap({ receipts, destinations }: Evidence): readonly string[] {
  const caps = new Map(destinations.map(({ name, maxInFlight }: DestinationFact) => [name, maxInFlight]))
  return receipts
    .filter(({ destination, at_once }) => at_once > (caps.get(destination) ?? 0))
    .map(({ destination, at_once }) => `${destination}: ${at_once} at once`)
}

/** One probe alone; after its success, the initial number of a recovering breaker, and one more for each success. */
function overRamp(receipts: readonly Receipt[]): readonly string[] {
  const before = receipts[0]?.succeeded ?? 0
  return receipts.flatMap(({ destination, at_once, succeeded }) => {
    const successes = succeeded - before
    const allowed = successes === 0 ? 1 : LIMITS.breakerRecoveringMin + successes - 1
    return at_once > allowed ? [`${destination}: ${at_once} at once after ${successes} successes`] : []
  })
}

/**
 * For each arrival since the return: the number that windows of a second allow, plus one request that may have been under way.
 */
function overRate(receipts: readonly Receipt[], revivedAt: number): readonly string[] {
  return receipts.flatMap(({ at }, index) => {
    const allowed = RATED.ratePerSecond * (Math.floor((at - revivedAt) / 1_000) + 1) + 1
    return index + 1 > allowed ? [`${index + 1} within ${Math.round(at - revivedAt)} ms`] : []
  })
}

/** Acknowledged events for a destination that had not arrived when the destination came back. */
function backlogOf(
  { answers, receipts, sent, destinations }: Evidence,
  { name, revivedAt }: { name: string; revivedAt: number },
): number {
  const datasets = destinations.find((destination) => destination.name === name)?.datasets ?? null
  const wanted = new Set(
    sent.filter(({ dataset }) => datasets === null || datasets.includes(dataset)).map(({ event }) => event),
  )
  const there = new Set(
    receipts
      .filter(({ destination, at, answered }) => destination === name && at < revivedAt && answered === 200)
      .map(({ event }) => event),
  )
  return answers.filter(
    ({ status, at, event }) => status === 201 && at < revivedAt && wanted.has(event) && !there.has(event),
  ).length
}

function waited(events: number): Figure {
  return {
    figure: `${CAPPED.name}: backlog when it came back`,
    value: String(events),
    limit: `min ${BACKLOG.events}`,
    ok: events >= BACKLOG.events,
  }
}

/** The speed compared with its cap or rate, and its evenness: the largest second against the mean one. */
function drainOf(
  receipts: readonly Receipt[],
  { name, perSecondMax }: { name: string; perSecondMax: number },
): readonly Figure[] {
  const [first, last] = [receipts[0]?.at ?? 0, receipts.at(-1)?.at ?? 0]
  const whole = receipts.filter(({ at }) => at < last - 1_000)
  const buckets = [...Map.groupBy(whole, ({ at }) => Math.floor((at - first) / 1_000)).values()].map(
    ({ length }) => length,
  )
  const mean = whole.length / Math.max(1, buckets.length)
  const ratio = Math.max(0, ...buckets) / Math.max(1, mean)
  return [
    counted(
      `${name}: most requests at once`,
      receipts.reduce((most, { at_once }) => Math.max(most, at_once), 0),
    ),
    counted(
      `${name}: received in a second`,
      `${Math.round(mean)}, ${Math.round((mean * 100) / perSecondMax)} % of ${perSecondMax}`,
    ),
    {
      figure: `${name}: largest second ÷ mean one`,
      value: `${ratio.toFixed(2)} of ${receipts.length} in ${seconds(last - first)}`,
      limit: `max ${BUCKET_RATIO_MAX}`,
      ok: ratio <= BUCKET_RATIO_MAX,
    },
  ]
}
