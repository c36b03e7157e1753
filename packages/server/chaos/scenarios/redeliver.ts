import { setTimeout as sleep } from 'node:timers/promises'
import { systemClock } from '../../src/platform/clock.ts'
import { duplicatesBounded, factsOf, promise, ROAD_CHECKS, type Finding } from '../checks.ts'
import type { Receiver } from '../destinations.ts'
import type { Evidence } from '../evidence.ts'
import { counted, loadFigures, type Figure } from '../figures.ts'
import { arrivals, slowdown, type Span } from '../latency.ts'
import { sendThrough, type Road } from '../road.ts'
import { defineScenario, type Outcome, type Request } from '../scenario.ts'
import type { Stage } from '../stage.ts'

/** The bulk replays: one sends all deliveries of its destination again, and the other is canceled midway. */
const [WHOLE, CUT] = ['whole', 'cut']
const LIVE = ['live-1', 'live-2']
const ROUND_MS = 1_000
/** Longer than the interval of autovacuum, which slows everything briefly: calm and storm each contain a run of it. */
const ROUNDS = 18
const LOOK_MS = 100
const PATIENCE_MS = 60_000
/** Longer than the time for which pages are made due in advance. */
const HELD_MS = 2_000
/** Long, so that on a slow machine no destination counts as dead. */
const TIMEOUT_MS = 60_000
/** The minimum duration of the whole replay, so that it can be paused. The other one is slower, so that it can be canceled. */
const WHOLE_SECONDS_MIN = 6
const CUT_SLOWER = 4
const RATIO_MAX = 2

/** Two bulk replays beside live traffic: one is paused and continues, the other is canceled midway. */
export const redeliver = defineScenario({
  name: 'redeliver',
  about:
    'bulk replays beside live traffic: each chosen delivery is sent once more, and paused and canceled replays send nothing',
  rounds: ROUNDS,
  ratePerSecond: 100,
  play,
})

function receivers(): readonly Receiver[] {
  const base = { maxInFlight: 20, timeoutMs: TIMEOUT_MS, conduct: () => ({ status: 200 }) } as const
  const sentAgain = [WHOLE, CUT].map((name): Receiver => ({ ...base, name, datasets: null, scheme: 'standard' }))
  return [...sentAgain, ...LIVE.map((name): Receiver => ({ ...base, name, datasets: ['live'], scheme: 'service' }))]
}

type Progress = {
  readonly id: string
  readonly state: string
  readonly total: number | null
  readonly replayed: number
  readonly skipped: number
}
/** `held`: its progress when the pause was acknowledged, and after the pause. */
type Replays = {
  readonly whole: Progress
  readonly cut: Progress
  readonly held: readonly [before: number, after: number]
  readonly ended: readonly [before: number, after: number]
}

async function play(stage: Stage, request: Request): Promise<Outcome> {
  const { signal, rounds, say } = request
  const clock = systemClock()
  let dataset = 'old'
  let [calm, storm, replays]: [Span, Span, Replays | undefined] = [NEVER, NEVER, undefined]
  const { evidence, stopped } = await sendThrough(stage, request, {
    receivers: receivers(),
    percent: () => ({ [dataset]: 100 }),
    storm: async (road) => {
      say(`${rounds} s of events for the replay, ${rounds} s of live events, and then both`)
      await sleep(rounds * ROUND_MS, undefined, { signal })
      dataset = 'live'
      const from = clock.now()
      await sleep(rounds * ROUND_MS, undefined, { signal })
      calm = { from, to: clock.now() }
      if (!(await isDelivered(road, signal))) return 'Some events for the replay were not delivered before it'
      const began = clock.now()
      replays = await sendAgain(stage, { road, request })
      storm = { from: began, to: clock.now() }
      return null
    },
  })
  return judge(evidence, { calm, storm, replays }, stopped)
}

const NEVER: Span = { from: 0, to: 0 }

const oldOnes = ({ load }: Pick<Road, 'load'>): ReadonlySet<string> =>
  new Set(load.sent.entries.filter(({ dataset }) => dataset === 'old').map(({ event }) => event))

/** Waits until the old events have arrived at both destinations. Returns false when that takes too long. */
async function isDelivered(road: Road, signal: AbortSignal): Promise<boolean> {
  const old = oldOnes(road)
  const accepted = road.load.answers.entries.filter(({ status, event }) => status === 201 && old.has(event)).length
  const isComplete = (name: string): boolean =>
    road.sink.receipts.entries.filter(({ destination, event }) => destination === name && old.has(event ?? ''))
      .length >= accepted
  return until(() => [WHOLE, CUT].every(isComplete), signal)
}

async function until(isSo: () => boolean | Promise<boolean>, signal: AbortSignal): Promise<boolean> {
  const end = performance.now() + PATIENCE_MS
  // oxlint-disable-next-line no-await-in-loop -- one look at a time
  while (!(await isSo())) {
    if (performance.now() > end) return false
    // oxlint-disable-next-line no-await-in-loop -- as above
    await sleep(LOOK_MS, undefined, { signal })
  }
  return true
}

async function sendAgain(stage: Stage, { road, request }: { road: Road; request: Request }): Promise<Replays> {
  const { signal, rounds } = request
  const perSecond = Math.ceil(oldOnes(road).size / Math.max(WHOLE_SECONDS_MIN, rounds))
  const idOf = (name: string): string => road.destinations.find((destination) => destination.name === name)?.id ?? ''
  const begin = async (name: string, rate_per_second: number): Promise<Progress> => {
    const filter = { state: ['delivered'], destination_id: idOf(name), dataset: 'old' }
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the contract's answer
    return ((await stage.admin('POST', 'deliveries/replays', { filter, rate_per_second })) as Answer).replay
  }
  const ask = async (method: string, id: string, verb = ''): Promise<Progress> => {
    const answer = await stage.admin(method, `deliveries/replays/${id}${verb}`, method === 'POST' ? {} : undefined)
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the contract's answer
    return (answer as Answer).replay
  }
  const look = (id: string): Promise<Progress> => ask('GET', id)
  const [whole, cut] = await Promise.all([begin(WHOLE, perSecond), begin(CUT, Math.ceil(perSecond / CUT_SLOWER))])
  await until(async () => (await look(whole.id)).replayed > 0, signal)
  // A replay that has already ended cannot be paused.
  const paused = await ask('POST', whole.id, '/pause').catch(() => look(whole.id))
  await until(async () => (await look(cut.id)).replayed > 0, signal)
  const canceled = await ask('POST', cut.id, '/cancel').catch(() => look(cut.id))
  await sleep(HELD_MS, undefined, { signal })
  const [held, ended] = [await look(whole.id), await look(cut.id)]
  await ask('POST', whole.id, '/resume').catch(() => undefined)
  await until(async () => (await look(whole.id)).state === 'done', signal)
  return {
    whole: await look(whole.id),
    cut: await look(cut.id),
    held: [paused.replayed, held.replayed],
    ended: [canceled.replayed, ended.replayed],
  }
}

type Answer = { readonly replay: Progress }
type Seen = { readonly calm: Span; readonly storm: Span; readonly replays: Replays | undefined }

function judge(evidence: Evidence, { calm, storm, replays }: Seen, stopped: string | null): Outcome {
  const { replayed, ...rest } = splitReplays(evidence)
  const facts = factsOf(evidence)
  const findings = [
    ...ROAD_CHECKS.map((check) => check(facts)),
    // A replay is a requested repeat: only repeats beyond those are duplicates.
    duplicatesBounded({ ...facts, received: withoutReplays(facts.received, rest.attemptsOfReplays) }),
    ...(replays === undefined ? [promise('replays started', ['none'])] : judgeReplays(evidence, { replays, replayed })),
  ]
  const figures = [
    ...loadFigures(evidence),
    counted(
      'chosen; sent again; until canceled',
      `${replays?.whole.total ?? 0}; ${replayed.get(WHOLE)?.length ?? 0}; ${replayed.get(CUT)?.length ?? 0}`,
    ),
    ...standstills(replays),
    slowdown('live: time from sent to received', {
      before: arrivals(evidence, { ...calm, names: LIVE }),
      during: arrivals(evidence, { ...storm, names: LIVE }),
      ratioMax: RATIO_MAX,
    }),
  ]
  return { findings, figures, stopped }
}

/** The progress when they were stopped. On a machine that is too slow to stop them in time, nothing is proven. */
function standstills(replays: Replays | undefined): readonly Figure[] {
  if (replays === undefined) return []
  const { whole, cut, held, ended } = replays
  return [stoodStill('one paused', held[0], whole.total), stoodStill('one canceled', ended[0], cut.total)]
}

function stoodStill(figure: string, at: number, total: number | null): Figure {
  return { figure, value: `at ${at} of ${total ?? 'unknown'}`, limit: 'before its end', ok: at < (total ?? Infinity) }
}

type Again = {
  readonly replayed: ReadonlyMap<string, readonly string[]>
  readonly attemptsOfReplays: ReadonlySet<string>
}

/** By destination, the records for whose deliveries a replay started attempts, once for each attempt. */
function splitReplays({ attempts, deliveries, destinations }: Evidence): Again {
  const names = new Map(destinations.map(({ id, name }) => [id, name]))
  const rows = new Map(deliveries.map((row) => [row.id, row]))
  const begun = attempts.filter(({ trigger }) => trigger === 'replay')
  const records = begun.flatMap(({ delivery_id }) => rows.get(delivery_id) ?? [])
  const grouped = Map.groupBy(records, (row) => names.get(row.destination_id) ?? '')
  return {
    replayed: new Map([...grouped].map(([name, all]) => [name, all.map(({ record_id }) => record_id)])),
    attemptsOfReplays: new Set(begun.map(({ id }) => id)),
  }
}

type Received = ReturnType<typeof factsOf>['received']

function withoutReplays(received: Received, attempts: ReadonlySet<string>): Received {
  return new Map(
    [...received].map(([key, receipts]) => [key, receipts.filter(({ attempt }) => !attempts.has(attempt))]),
  )
}

function judgeReplays(
  evidence: Evidence,
  { replays, replayed }: { replays: Replays; replayed: Again['replayed'] },
): readonly Finding[] {
  const { whole, cut, held, ended } = replays
  const old = new Set(
    evidence.stored.filter(({ dataset }) => dataset === 'old').map(({ record_id }) => record_id ?? ''),
  )
  const [wholes, cuts] = [replayed.get(WHOLE) ?? [], replayed.get(CUT) ?? []]
  const sent = new Set(wholes)
  const twice = [wholes, cuts].flatMap((records) =>
    records.filter((record, index) => records.indexOf(record) !== index),
  )
  return [
    promise(
      'chosen, not sent again',
      [...old].filter((record) => !sent.has(record)),
    ),
    promise('sent twice by a replay', twice),
    promise(
      'sent again, not chosen',
      [...replayed].flatMap(([name, records]) => records.filter((record) => !old.has(record) || LIVE.includes(name))),
    ),
    promise('made due while paused', differing('before and after', held)),
    promise('made due after it was canceled', differing('before and after', ended)),
    promise('sent again, but counted wrongly', [
      ...differing('whole', [whole.replayed, wholes.length]),
      ...differing('cut', [cut.replayed, cuts.length]),
    ]),
    promise('replays in an unexpected state', [
      ...(whole.state === 'done' ? [] : [`whole: ${whole.state}`]),
      ...(cut.state === 'cancelled' || ended[1] >= old.size ? [] : [`cut: ${cut.state}`]),
    ]),
  ]
}

function differing(what: string, [first, second]: readonly [number, number]): readonly string[] {
  return first === second ? [] : [`${what}: ${first}, ${second}`]
}
