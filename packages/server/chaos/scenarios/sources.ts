import { setTimeout as sleep } from 'node:timers/promises'
import { Rng } from '../../sim/rng.ts'
import { asked } from '../asked.ts'
import { duplicatesBounded, factsOf, promise, ROAD_CHECKS, type Finding } from '../checks.ts'
import { closeBreakers } from '../destinations.ts'
import type { Evidence } from '../evidence.ts'
import { openFeed, POLLED, STREAMED, type Feed } from '../feed.ts'
import { failingSources, filedChanges, sourcesWithoutPosition, type ChangeRow } from '../foreign/queries.ts'
import { CHANGES, openForeignDatabase, ROWS, type ForeignDatabase } from '../foreign/database.ts'
import { counted, loadFigures } from '../figures.ts'
import { createNemesis } from '../nemesis.ts'
import { cronRuns, expireSourceClaims, storedEvents, type CronRun } from '../queries.ts'
import type { Sent } from '../load.ts'
import { sendThrough } from '../road.ts'
import { defineScenario, type Outcome, type Request } from '../scenario.ts'
import type { Stage } from '../stage.ts'
import { storm } from '../storm.ts'

const ORDERS = 'orders'
const TICKS = 'ticks'
/** Items per second in the foreign system, for each of the two sources. */
const FEED_RATE = 20
const FILED_MS = 240_000
/** A source that waits to connect again waits less. After this long without a new item, nothing more comes. */
const STILL_MS = 90_000
const LOOK_MS = 500
const MINUTE_MS = 60_000

/**
 * Processes that read sources and run cron triggers die at random times, and so does a database that they poll and whose
 * replication they read. Each row, each change, each item and each minute is filed exactly once.
 */
export const sources = defineScenario({
  name: 'sources',
  about:
    'SIGKILL of servers that read sources, and of the database that they read: each row, each change, each item and each minute is filed once',
  processes: 2,
  rounds: 20,
  ratePerSecond: 40,
  play,
})

async function play(stage: Stage, request: Request): Promise<Outcome> {
  const { seed, signal, isShort } = request
  const feed = await openFeed(FEED_RATE)
  const foreign = await openForeignDatabase()
  const rng = new Rng(seed + 3)
  let made: Made = { items: [], changes: [] }
  try {
    let filed: string | null = null
    const { evidence, stopped } = await sendThrough(stage, request, {
      receivers: [
        {
          name: 'all',
          datasets: [ORDERS, POLLED, STREAMED, ROWS],
          maxInFlight: 20,
          scheme: 'standard',
          conduct: () => ({ status: 200 }),
        },
      ],
      percent: { [ORDERS]: 100 },
      prepare: async () => {
        await createSources(stage, { feed, foreign })
        await hasBegun(stage, signal)
        foreign.begin()
      },
      storm: ({ sink, blows, load }) => {
        const nemesis = createNemesis({
          stage,
          rng: new Rng(seed + 2),
          blows,
          answers: load.answers,
          receipts: sink.receipts,
          signal,
        })
        return storm(request, {
          nemesis,
          delivers: true,
          meanwhile: async (round) => {
            await sleep(rng.int(0, FOREIGN_MS_MAX), undefined, { signal })
            if (round % 2 === 1) foreign.kill()
          },
        })
      },
      heal: async ({ destinations }) => {
        await closeBreakers(stage, destinations)
        feed.end()
        const { rows, changes } = await foreign.end()
        made = { items: [...feed.items(), ...rows], changes }
        if (isShort) await asked(stage, (database, at) => expireSourceClaims(database, at))
        filed = await unfiled(stage, { made, signal })
      },
    })
    const [runs, changes] = await asked(stage, (database, at) =>
      Promise.all([cronRuns(database, { ...at, dataset: TICKS }), filedChanges(database, { ...at, dataset: CHANGES })]),
    )
    return judge(evidence, { made, runs, changes, stopped: stopped ?? filed })
  } finally {
    await feed.stop()
    await foreign.stop()
  }
}

/** The items and rows that the foreign systems made, as they must be stored, and their changes. */
type Made = { readonly items: readonly Sent[]; readonly changes: readonly ChangeRow[] }

const NOT_FILED = `Some items were not filed within ${FILED_MS / 1_000} s, or nothing was filed for ${STILL_MS / 1_000} s`
/** The latest kill of the foreign database after a blow. */
const FOREIGN_MS_MAX = 1_500

async function createSources(
  stage: Stage,
  { feed, foreign }: { feed: Feed; foreign: Pick<ForeignDatabase, 'connection'> },
): Promise<void> {
  const { connection } = foreign
  await stage.admin('POST', 'sources', {
    name: 'Rows',
    dataset: ROWS,
    settings: {
      kind: 'postgres',
      connection,
      tls: { mode: 'off' },
      query: 'select n, event from items',
      cursor_column: 'n',
      start: 'beginning',
      lag_seconds: 0,
      poll_seconds: 10,
    },
  })
  await stage.admin('POST', 'sources', {
    name: 'Changes',
    dataset: CHANGES,
    settings: { kind: 'postgres_replication', connection, tls: { mode: 'off' }, tables: ['items'] },
  })
  await stage.admin('POST', 'sources', {
    name: 'Items',
    dataset: POLLED,
    settings: {
      kind: 'http_poll',
      url: feed.itemsUrl,
      items_path: 'items',
      cursor: { path: 'last', send_as: 'after' },
      poll_seconds: 10,
    },
  })
  await stage.admin('POST', 'sources', {
    name: 'Stream',
    dataset: STREAMED,
    settings: { kind: 'sse', url: feed.streamUrl },
  })
  await stage.admin('POST', 'cron-triggers', { name: 'Minutes', dataset: TICKS, expression: '* * * * *' })
}

/** Waits until every slot exists, because a slot has no changes from before its creation. */
async function hasBegun(stage: Stage, signal: AbortSignal): Promise<void> {
  await asked(stage, async (database, at) => {
    // oxlint-disable-next-line no-await-in-loop -- one look at a time
    while ((await sourcesWithoutPosition(database, at)).length > 0) await sleep(LOOK_MS, undefined, { signal })
  })
}

/** Waits until everything is stored. The result is the reason why it took too long, or null. */
async function unfiled(stage: Stage, { made, signal }: { made: Made; signal: AbortSignal }): Promise<string | null> {
  const end = performance.now() + FILED_MS
  let [filed, filedAt] = [0, performance.now()]
  return asked(stage, async (database, at) => {
    for (;;) {
      // oxlint-disable-next-line no-await-in-loop -- one look at a time
      const found = new Set((await storedEvents(database, at)).map(({ event }) => event))
      // oxlint-disable-next-line no-await-in-loop -- as above
      const changes = new Set((await filedChanges(database, { ...at, dataset: CHANGES })).map(nameOf))
      if (made.items.every(({ event }) => found.has(event)) && made.changes.every((one) => changes.has(nameOf(one))))
        return null
      if (found.size + changes.size > filed) [filed, filedAt] = [found.size + changes.size, performance.now()]
      if (performance.now() > Math.min(end, filedAt + STILL_MS)) {
        // oxlint-disable-next-line no-await-in-loop -- the last look
        const failing = await failingSources(database, at)
        return [NOT_FILED, ...failing.map(({ error }) => error)].join('; ')
      }
      // oxlint-disable-next-line no-await-in-loop -- as above
      await sleep(LOOK_MS, undefined, { signal })
    }
  })
}

const nameOf = ({ operation, n }: ChangeRow): string => `${operation} ${n}`

/** The items count as sent, so every promise about the events of senders also covers the items. */
function withItems(evidence: Evidence, items: readonly Sent[]): Evidence {
  return {
    ...evidence,
    sent: [...evidence.sent, ...items],
    stored: evidence.stored.filter(({ dataset }) => dataset !== TICKS && dataset !== CHANGES),
  }
}

type Seen = {
  readonly made: Made
  readonly runs: readonly CronRun[]
  readonly changes: readonly ChangeRow[]
  readonly stopped: string | null
}

function judge(evidence: Evidence, { made, runs, changes, stopped }: Seen): Outcome {
  const facts = factsOf(withItems(evidence, made.items))
  const stored = new Set(evidence.stored.map(({ event }) => event))
  const findings = [
    ...[...ROAD_CHECKS, duplicatesBounded].map((check) => check(facts)),
    promise(
      'items that were never filed',
      made.items.filter(({ event }) => !stored.has(event)).map(({ event }) => event),
    ),
    ...judgeChanges(made.changes, changes),
    ...judgeRuns(runs),
  ]
  const figures = [
    ...loadFigures(evidence),
    counted('items and rows', made.items.length),
    counted('changes of the replication', made.changes.length),
    counted('runs of the cron trigger', runs.length),
  ]
  return { findings, figures, stopped }
}

function judgeChanges(made: readonly ChangeRow[], filed: readonly ChangeRow[]): readonly Finding[] {
  const names = filed.map(nameOf)
  const found = new Set(names)
  const inserts = filed.filter(({ operation }) => operation === 'insert')
  return [
    promise(
      'changes that were never filed',
      made.map(nameOf).filter((name) => !found.has(name)),
    ),
    promise(
      'changes filed twice',
      [...Map.groupBy(names, (name) => name)].flatMap(([name, all]) => (all.length > 1 ? [name] : [])),
    ),
    promise(
      'changes filed out of order',
      inserts.flatMap(({ n }, index) => (n < (inserts[index - 1]?.n ?? 0) ? [`insert ${n}`] : [])),
    ),
  ]
}

const next = ({ fired_at }: CronRun): number => (Math.floor(Date.parse(fired_at) / MINUTE_MS) + 1) * MINUTE_MS

/** A run after a downtime covers every minute until it was made, so the next one is for the minute after that. */
function judgeRuns(runs: readonly CronRun[]): readonly Finding[] {
  const pairs = runs.slice(1).map((run, index) => ({ run, previous: runs[index] ?? run }))
  return [
    promise(
      'minutes that ran twice',
      pairs.flatMap(({ run, previous }) => (Date.parse(run.scheduled_for) < next(previous) ? [run.scheduled_for] : [])),
    ),
    promise(
      'minutes that never ran',
      pairs.flatMap(({ run, previous }) => (Date.parse(run.scheduled_for) > next(previous) ? [run.scheduled_for] : [])),
    ),
  ]
}
