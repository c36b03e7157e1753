import { setTimeout as sleep } from 'node:timers/promises'
import { systemClock } from '../../src/platform/clock.ts'
import { duplicatesBounded, factsOf, promise, ROAD_CHECKS } from '../checks.ts'
import { closeBreakers, findOpenBreakers, type Receiver } from '../destinations.ts'
import type { Evidence } from '../evidence.ts'
import { counted, loadFigures } from '../figures.ts'
import { arrivals, pace, slowdown, type Span } from '../latency.ts'
import type { NameConduct } from '../name-server.ts'
import { sendThrough, type Road } from '../road.ts'
import { defineScenario, type Outcome, type Request } from '../scenario.ts'
import type { Stage } from '../stage.ts'

const NEIGHBORS = ['neighbor-1', 'neighbor-2', 'neighbor-3', 'neighbor-4']
const WARM_MS = 2_000
const ROUND_MS = 2_000
const LOOK_MS = 100
/**
 * The number of checks without any arrival, each after an answer of the server: on a slow machine they take correspondingly
 * longer.
 */
const STILL_LOOKS = { full: 200, short: 40 }
const RATIO_MAX = 2
const P99_MS_MAX = 1_000
const PACE_PERCENT_MIN = 95
/** The good destinations have it too: on a slow machine none of them may count as dead. */
const TIMEOUT_MS = 60_000
/** Longer than the server remembers that a name did not resolve. */
const NAMES_KEPT_MS = 6_000
/**
 * The waits before each attempt of a good destination, should it ever fail: shorter than the time without arrivals that ends
 * the wait.
 */
const AGAIN = [0, ...Array<number>(60).fill(1)]
/** The waits before each attempt of a failing destination: long enough to outlast the failure. */
const PATIENT = [0, 2, ...Array<number>(90).fill(5)]

/**
 * The trouble of the bad destinations, its start and its repair. Good and bad destinations each get the events of one dataset.
 */
type Trouble = {
  readonly bad: readonly Receiver[]
  /** Whether all destinations have host names. */
  readonly hosts: boolean
  readonly begin: () => void
  /** Repairs the trouble. Nobody notices for `noticedAfterMs`. */
  readonly end: () => void
  readonly noticedAfterMs: number
}

/**
 * One destination never answers and one closes connections immediately, each with all events. Their neighbors get their
 * events as before.
 */
export const neighbor = defineScenario({
  name: 'neighbor',
  about: 'a destination that hangs and one that is dead, beside good ones: these get their events as before',
  rounds: 8,
  ratePerSecond: 60,
  play: (stage, request) => play(stage, request, hanging()),
})

/**
 * The same with destinations whose names hang or do not exist, while the good ones have names that are resolved for each
 * request.
 */
export const neighborByName = defineScenario({
  name: 'neighbor --dns',
  about: 'the same, where the names of the bad ones hang or do not exist',
  hasNames: true,
  rounds: 8,
  ratePerSecond: 60,
  play: (stage, request) => play(stage, request, unnamed(stage)),
})

function hanging(): Trouble {
  const released = Promise.withResolvers<void>()
  let isOver = false
  const base = { datasets: ['storm'], scheme: 'standard', scheduleSeconds: PATIENT } as const
  return {
    hosts: false,
    bad: [
      {
        ...base,
        name: 'hangs',
        maxInFlight: 100,
        timeoutMs: TIMEOUT_MS,
        conduct: () => ({ status: 200, after: released.promise }),
      },
      { ...base, name: 'dead', maxInFlight: 20, conduct: () => ({ status: isOver ? 200 : 'hung_up' }) },
    ],
    begin: () => undefined,
    noticedAfterMs: 0,
    end: () => {
      isOver = true
      released.resolve()
    },
  }
}

function unnamed({ names }: Stage): Trouble {
  const silent = Array.from({ length: 8 }, (_none, n) => `hangs-${n + 1}`)
  const conducts = new Map<string, NameConduct>([
    ...silent.map((name) => [name, 'silent'] as const),
    ['nowhere', 'unknown'],
  ])
  return {
    hosts: true,
    bad: [...conducts.keys()].map((name) => ({
      name,
      host: hostOf(name),
      datasets: ['storm'],
      maxInFlight: 10,
      scheme: 'standard',
      scheduleSeconds: PATIENT,
      conduct: () => ({ status: 200 }),
    })),
    noticedAfterMs: NAMES_KEPT_MS,
    begin: () => conducts.forEach((conduct, name) => names?.conduct(hostOf(name), conduct)),
    end: () => conducts.forEach((_conduct, name) => names?.conduct(hostOf(name), 'answers')),
  }
}

const hostOf = (name: string): string => `${name}.chaos.test`

function receivers({ bad, hosts }: Trouble): readonly Receiver[] {
  const good = NEIGHBORS.map((name): Receiver => ({
    name,
    ...(hosts ? { host: hostOf(name) } : {}),
    datasets: null,
    maxInFlight: 20,
    scheme: 'standard',
    timeoutMs: TIMEOUT_MS,
    scheduleSeconds: AGAIN,
    // One connection per request, so that each request must resolve the name.
    conduct: () => (hosts ? { status: 200, headers: { connection: 'close' } } : { status: 200 }),
  }))
  return [...good, ...bad]
}

type Spans = { readonly calm: Span; readonly storm: Span; readonly releasedAt: number }

async function play(stage: Stage, request: Request, trouble: Trouble): Promise<Outcome> {
  const { signal, rounds, say } = request
  const clock = systemClock()
  let [dataset, calm, storm, releasedAt]: [string, Span, Span, number] = ['calm', NEVER, NEVER, Infinity]
  const spend = async (name: string): Promise<Span> => {
    dataset = name
    const from = clock.now()
    await sleep(rounds * ROUND_MS, undefined, { signal })
    return { from, to: clock.now() }
  }
  const { evidence, stopped } = await sendThrough(stage, request, {
    receivers: receivers(trouble),
    percent: () => ({ [dataset]: 100 }),
    storm: async () => {
      trouble.begin()
      await sleep(request.isShort ? 0 : WARM_MS, undefined, { signal })
      say(`${rounds * 2} s in calm, then ${rounds * 2} s with bad neighbors`)
      calm = await spend('calm')
      storm = await spend('storm')
      return null
    },
    heal: async (road) => {
      say('waiting until all but the bad ones have everything; then these are repaired')
      await untilUnchanged(stage, {
        road,
        looks: (request.isShort ? STILL_LOOKS.short : STILL_LOOKS.full) + trouble.noticedAfterMs / LOOK_MS,
        signal,
      })
      releasedAt = clock.now()
      trouble.end()
      await sleep(trouble.noticedAfterMs, undefined, { signal })
      await closeBreakers(stage, await findOpenBreakers(stage))
    },
  })
  return judge(evidence, { calm, storm, releasedAt }, stopped)
}

const NEVER: Span = { from: 0, to: 0 }

function isComplete({ load, sink }: Road, name: string): boolean {
  const accepted = load.answers.entries.filter(({ status }) => status === 201).length
  return (
    new Set(sink.receipts.entries.filter(({ destination }) => destination === name).map(({ event }) => event)).size >=
    accepted
  )
}

/** Waits until the good destinations have everything, or nothing has arrived there during this many checks. */
async function untilUnchanged(
  stage: Stage,
  { road, looks, signal }: { road: Road; looks: number; signal: AbortSignal },
): Promise<void> {
  const good = new Set(NEIGHBORS)
  const count = (): number => road.sink.receipts.entries.filter(({ destination }) => good.has(destination)).length
  let [seen, still] = [count(), 0]
  while (still < looks && !NEIGHBORS.every((name) => isComplete(road, name))) {
    // oxlint-disable-next-line no-await-in-loop -- one look at a time
    await stage.admin('GET', 'destinations?limit=1')
    // oxlint-disable-next-line no-await-in-loop -- as above
    await sleep(LOOK_MS, undefined, { signal })
    still = count() === seen ? still + 1 : 0
    seen = count()
  }
}

function judge(evidence: Evidence, { calm, storm, releasedAt }: Spans, stopped: string | null): Outcome {
  const facts = factsOf(evidence)
  const before = new Set(
    evidence.receipts.filter(({ at }) => at < releasedAt).map(({ record, destination }) => `${record} ${destination}`),
  )
  const late = [...facts.acked.values()].flatMap((record) =>
    NEIGHBORS.map((name) => `${record} ${name}`).filter((key) => !before.has(key)),
  )
  const bad = evidence.receipts.filter(({ destination, at }) => !NEIGHBORS.includes(destination) && at < releasedAt)
  const findings = [...ROAD_CHECKS, duplicatesBounded].map((check) => check(facts))
  const figures = [
    ...loadFigures(evidence),
    counted('most requests at once at a bad one', Math.max(0, ...bad.map(({ at_once }) => at_once))),
    slowdown('time from sent to received, neighbors', {
      before: arrivals(evidence, { ...calm, names: NEIGHBORS }),
      during: arrivals(evidence, { ...storm, names: NEIGHBORS }),
      ratioMax: RATIO_MAX,
      msMax: P99_MS_MAX,
    }),
    pace('received by its neighbors', {
      receipts: evidence.receipts,
      names: NEIGHBORS,
      before: calm,
      during: storm,
      percentMin: PACE_PERCENT_MIN,
    }),
  ]
  return {
    findings: [...findings, promise('not delivered to a neighbor before the bad ones were repaired', late)],
    figures,
    stopped,
  }
}
