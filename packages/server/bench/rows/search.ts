import type { Deps } from '../../src/context.ts'
import { systemClock } from '../../src/platform/clock.ts'
import { openDatabase, statement, type DatabaseTarget } from '../../src/platform/db.ts'
import { createIndexer } from '../../src/resources/capture/search-index/index.ts'
import type { LoadVerbs } from '../load.ts'
import { SECRET } from '../payload.ts'
import { adminOf, makeEndpoint } from '../postroad.ts'
import { countRows, settle, withDatabase } from '../queries.ts'
import { openSearchAt, type OpenSearch } from '../rivals/opensearch.ts'
import { askEverywhere, type Asked } from '../search/asked.ts'
import { insertBodies, readEvents, sizesOf, storeEvents } from '../search/queries.ts'
import { QUESTIONS } from '../search/questions.ts'
import { inTurns, type Stage } from '../stage.ts'
import { median, nowMs } from '../statistics.ts'
import { shown, type Figure, type Table } from '../table.ts'

const STATEMENT_MS = 600_000
/** The backlog that one of two servers indexes while both accept events. */
const BACKLOG = 300_000
const BODIES = 20_000
const MIB = 1_048_576

/** Ten questions about many events, beside the same tables without an index and OpenSearch; and the cost of the index for ingest. */
export async function search(stage: Stage): Promise<readonly Figure[]> {
  const figures: Figure[] = []
  const sizes: Size[] = []
  for (const count of stage.records) {
    // oxlint-disable-next-line no-await-in-loop -- one size at a time, or they would measure each other
    const size = await askAt(stage, count)
    sizes.push(size)
    stage.addTable(questionTable(size))
    figures.push(...size.figures)
  }
  if (sizes.length > 1) stage.addTable(growthTable(sizes))
  return [...figures, ...(await insertions(stage)), ...(await ingestBeside(stage))]
}

type Size = {
  readonly count: number
  readonly rival: string | undefined
  readonly asked: readonly Asked[]
  readonly figures: readonly Figure[]
}

/** Stores this many events, or finds them stored by a previous run, and asks everything about them. */
async function askAt(stage: Stage, count: number): Promise<Size> {
  const folder = await stage.folder(`search-${count}`)
  // The server runs no loops, because the bench itself indexes everything in one run.
  const server = await stage.server({ folder, roles: 'web' })
  const admin = await adminOf(server, folder)
  const took = await stored(stage, { target: server.target, count })
  const rival = await openRival(stage, count)
  const rivalMs = await withBench(server.target, async (db) => rival?.fill(readEvents(db), count))
  if (rivalMs !== undefined) stage.say(`${rival?.name} stored ${count} events in ${seconds(rivalMs)} s`)
  const asked: Asked[] = []
  await withBench(server.target, async (db) => {
    for (const question of QUESTIONS) {
      // oxlint-disable-next-line no-await-in-loop -- one question at a time
      const answer = await askEverywhere(question, {
        admin,
        db: isCompared(stage, count) ? db : undefined,
        rival,
        count,
      })
      stage.say(`${answer.name}: ${[answer.oursMs, answer.plainMs, answer.rivalMs].map(inMs).join(' | ')}`)
      asked.push(answer)
    }
  })
  const sizes = await withBench(server.target, sizesOf)
  const figures = [
    ...costOf(count, { took, rival, rivalMs }),
    ...sizeOf(count, { sizes, rival, rivalBytes: await rival?.bytes() }),
  ]
  if (!stage.retains) await rival?.remove()
  await rival?.close()
  await server.stop()
  return { count, rival: rival?.name, asked, figures }
}

const isCompared = (stage: Stage, count: number): boolean => count <= stage.comparedRecords

/** The OpenSearch that the environment names; undefined: there is none, or it is not asked about this many events. */
async function openRival(stage: Stage, count: number): Promise<OpenSearch | undefined> {
  const url = process.env['BENCH_OPENSEARCH_URL']
  return url === undefined || !isCompared(stage, count) ? undefined : openSearchAt(url, count)
}

const seconds = (ms: number): string => (ms / 1_000).toFixed(0)
const inWords = (count: number): string => count.toLocaleString('en-US')

type Took = { readonly storedMs: number; readonly indexedMs: number }

/** The time of storing and indexing the events; undefined: a previous run did. */
async function stored(
  stage: Stage,
  { target, count }: { readonly target: DatabaseTarget; readonly count: number },
): Promise<Took | undefined> {
  if ((await withBench(target, (db) => countRows(db, 'records'))) === count) {
    await indexAll(target)
    return undefined
  }
  const storedMs = await fill(stage, target, count)
  const indexedMs = await indexAll(target)
  stage.say(`stored ${count} events in ${seconds(storedMs)} s, indexed them in ${seconds(indexedMs)} s`)
  await withBench(target, settle)
  return { storedMs, indexedMs }
}

function costOf(
  count: number,
  costs: {
    readonly took: Took | undefined
    readonly rival: OpenSearch | undefined
    readonly rivalMs: number | undefined
  },
): readonly Figure[] {
  const { took, rival, rivalMs } = costs
  if (took === undefined) return []
  const perEvent = (ms: number): number => (ms * 1_000) / count
  const figure = { what: `Indexing an event of ${inWords(count)}`, unit: 'µs', ours: perEvent(took.indexedMs) }
  const storing = { name: 'storing it by `insert … select`', value: perEvent(took.storedMs) }
  return [
    { ...figure, beside: storing },
    ...(rival === undefined || rivalMs === undefined
      ? []
      : [
          {
            ...figure,
            what: 'the same',
            beside: { name: `${rival.name}, stores and indexes`, value: perEvent(rivalMs) },
          },
        ]),
  ]
}

function sizeOf(
  count: number,
  found: {
    readonly sizes: { readonly index: number; readonly events: number }
    readonly rival: OpenSearch | undefined
    readonly rivalBytes: number | undefined
  },
): readonly Figure[] {
  const { sizes, rival, rivalBytes } = found
  const figure = { what: `Size of the index of ${inWords(count)} events`, unit: 'MiB', ours: sizes.index / MIB }
  return [
    { ...figure, beside: { name: 'the tables of the events', value: sizes.events / MIB } },
    ...(rival === undefined || rivalBytes === undefined
      ? []
      : [{ ...figure, what: 'the same', beside: { name: `${rival.name}, with the events`, value: rivalBytes / MIB } }]),
  ]
}

const inMs = (ms: number | undefined): string => (ms === undefined ? '' : shown(ms, 'ms'))

/** The time of each question among this many events, and how many events it read. */
function questionTable({ count, rival, asked }: Size): Table {
  return {
    title: `${inWords(count)} events`,
    head: [
      'Search for',
      'Postroad, p95',
      ...(asked.some(({ plainMs }) => plainMs !== undefined) ? ['`ilike` or `#>>` in SQL'] : []),
      ...(rival === undefined ? [] : [`${rival}, p95`]),
      'Scanned',
      'Read one by one',
      'Calls',
    ],
    rows: asked.map((question) => [
      question.name,
      inMs(question.oursMs),
      ...(question.plainMs === undefined ? [] : [inMs(question.plainMs)]),
      ...(rival === undefined ? [] : [inMs(question.rivalMs)]),
      ...[question.scanned, question.read, question.calls].map(inWords),
    ]),
  }
}

/** How the time of each question grows with the number of events. */
function growthTable(sizes: readonly Size[]): Table {
  return {
    title: 'Growth',
    head: ['Search for, p95 of Postroad', ...sizes.map(({ count }) => `${inWords(count)} events`)],
    rows: QUESTIONS.map(({ name }, index) => [name, ...sizes.map(({ asked }) => inMs(asked[index]?.oursMs))]),
  }
}

async function fill(stage: Stage, target: DatabaseTarget, count: number): Promise<number> {
  const began = nowMs()
  await withBench(target, (db) =>
    storeEvents(db, {
      count,
      now: systemClock().now(),
      progress: (done) => done % 1_000_000 === 0 && stage.say(`stored ${done} events`),
    }),
  )
  const tookMs = nowMs() - began
  await withBench(target, (db) => db.run(statement('vacuum analyze')))
  return tookMs
}

/** Runs the product's own loop, whose clock does not move, so that it neither ends early nor pauses. */
async function indexAll(target: DatabaseTarget): Promise<number> {
  const now = systemClock().now()
  const began = nowMs()
  await withBench(target, (database) => {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the loop uses these two
    const deps = { database, clock: { now: () => now } } as unknown as Deps
    return createIndexer(deps)()
  })
  return nowMs() - began
}

/** The cost of an index in the commit: the usual trigram index of PostgreSQL, beside none. */
async function insertions(stage: Stage): Promise<readonly Figure[]> {
  const folder = await stage.folder()
  const server = await stage.server({ folder, roles: 'web' })
  const rates: Record<'plain' | 'trigrams', number[]> = { plain: [], trigrams: [] }
  const run = (name: 'plain' | 'trigrams') => async () => {
    const began = nowMs()
    await withBench(server.target, (db) => insertBodies(db, { indexed: name === 'trigrams', count: BODIES }))
    rates[name].push((BODIES * 1_000) / (nowMs() - began))
  }
  await inTurns(stage.rounds, { plain: run('plain'), trigrams: run('trigrams') })
  await server.stop()
  return [
    {
      what: 'Rejected: inserts with a `pg_trgm` index',
      unit: '/s',
      ours: median(rates.trigrams),
      beside: { name: 'the same inserts without it', value: median(rates.plain) },
    },
  ]
}

/** Ingest while the loop indexes a backlog, beside ingest while there is nothing to index. */
async function ingestBeside(stage: Stage): Promise<readonly Figure[]> {
  const rates: Record<'indexing' | 'idle', number[]> = { indexing: [], idle: [] }
  const load = stage.child<LoadVerbs>('load.ts')
  const run = (name: 'indexing' | 'idle') => async () => {
    const folder = await stage.folder()
    const server = await stage.server({ folder })
    const path = await makeEndpoint(await adminOf(server, folder), 'bench', SECRET)
    await fill(stage, server.target, BACKLOG)
    if (name === 'idle') await indexAll(server.target)
    await withDatabase(server.target, settle)
    const at = { port: server.port, path, secret: SECRET, connections: 64 }
    await load.ask('closed', { ...at, until: { ms: stage.seconds * 500 } })
    rates[name].push((await load.ask('closed', { ...at, until: { ms: stage.seconds * 3_000 } })).perSecond)
    await server.stop()
  }
  await inTurns(stage.rounds, { indexing: run('indexing'), idle: run('idle') })
  await load.stop()
  return [
    {
      what: 'Ingest while a backlog is indexed',
      unit: '/s',
      ours: median(rates.indexing),
      beside: { name: 'nothing to index', value: median(rates.idle) },
      aim: { leastRatio: 0.87 },
    },
  ]
}

/** Opens a database with time for statements that read everything. */
async function withBench<T>(
  target: DatabaseTarget,
  work: (db: ReturnType<typeof openDatabase>) => Promise<T>,
): Promise<T> {
  const database = openDatabase({
    target,
    connectionsMax: 1,
    applicationName: 'bench',
    statementTimeoutMs: STATEMENT_MS,
  })
  try {
    return await work(database)
  } finally {
    await database.close()
  }
}
