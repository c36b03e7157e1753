import { setTimeout as sleep } from 'node:timers/promises'
import type { DatabaseTarget } from '../../src/platform/db.ts'
import { SECRET } from '../payload.ts'
import { adminOf, makeEndpoint, type Admin } from '../postroad.ts'
import { countRows, countTransactions, dropDatabase, makeDatabase, settle, withDatabase } from '../queries.ts'
import type { EngineVerbs } from '../rivals/engine-verbs.ts'
import { inTurns, type Stage } from '../stage.ts'
import { median, nowMs } from '../statistics.ts'
import type { LoadVerbs } from '../load.ts'
import type { Figure } from '../table.ts'
import { until } from '../until.ts'

const CONCURRENCY = 100
const STEPS = 5
const PER_SECOND = 500
const WARM_SHARE = 0.1
const WAITING = 10_000
const WARM_MS = 5_000
const PATIENCE = { lookMs: 20, patienceMs: 300_000 }
const RIVALS = { dbos: 'DBOS 5.3.0', openworkflow: 'OpenWorkflow 0.10.1' } as const
type Rival = keyof typeof RIVALS

const FIVE = Array.from({ length: STEPS }, (_none, index) => ({
  id: `step_${index}`,
  type: 'emit_event',
  dataset: `made_${index}`,
  data: { made: true },
}))

/** The steps of workflows, their starts and their waits, beside engines that do the same in the same PostgreSQL. */
export async function workflows(stage: Stage): Promise<readonly Figure[]> {
  return [...(await starts(stage)), ...(await steps(stage)), ...(await waits(stage))]
}

const makeWorkflow = (admin: Admin, entry_dataset: string, body: object): Promise<unknown> =>
  admin('POST', 'workflows', { name: entry_dataset, entry_dataset, ...body })

/** Ingest of events that start an instance each, beside events that start none. No process runs the instances meanwhile. */
async function starts(stage: Stage): Promise<readonly Figure[]> {
  const folder = await stage.folder()
  const server = await stage.server({ folder, roles: 'web' })
  const load = stage.child<LoadVerbs>('load.ts')
  const admin = await adminOf(server, folder)
  const [plain, starting] = [await makeEndpoint(admin, 'plain', SECRET), await makeEndpoint(admin, 'starting', SECRET)]
  await makeWorkflow(admin, 'starting', { steps: FIVE })
  const rates: Record<'plain' | 'starting', number[]> = { plain: [], starting: [] }
  const run = async (name: 'plain' | 'starting', path: string): Promise<void> => {
    await withDatabase(server.target, settle)
    const ms = stage.seconds * 1_000
    const at = { port: server.port, path, secret: SECRET, connections: 64 }
    rates[name].push((await load.ask('closed', { ...at, until: { ms } })).perSecond)
  }
  await run('plain', plain)
  await run('starting', starting)
  rates.plain.length = rates.starting.length = 0
  await inTurns(stage.rounds, {
    plain: () => run('plain', plain),
    starting: () => run('starting', starting),
  })
  await load.stop()
  await server.stop()
  return [
    {
      what: 'Ingest of events that start an instance',
      unit: '/s',
      ours: median(rates.starting),
      beside: { name: 'events that start none', value: median(rates.plain) },
    },
  ]
}

/** Waits until the table has this many rows, and returns the time. */
async function reached(target: DatabaseTarget, table: string, count: number): Promise<number> {
  await withDatabase(target, (db) =>
    until(`${table} has ${count} rows`, async () => (await countRows(db, table)) >= count, PATIENCE),
  )
  return nowMs()
}

/** A backlog of instances with five steps, each of which stores a row; for Postroad, an event with its record. */
async function steps(stage: Stage): Promise<readonly Figure[]> {
  const folder = await stage.folder()
  const load = stage.child<LoadVerbs>('load.ts')
  let server = await stage.server({ folder })
  const admin = await adminOf(server, folder)
  const path = await makeEndpoint(admin, 'bench', SECRET)
  await makeWorkflow(admin, 'bench', { steps: FIVE })
  const total = stage.seconds * PER_SECOND
  let done = 0
  const rate = async (target: DatabaseTarget, table: string, from: number): Promise<number> => {
    const warm = Math.floor(total * STEPS * WARM_SHARE)
    const began = await reached(target, table, from + warm)
    const ended = await reached(target, table, from + total * STEPS)
    return ((total * STEPS - warm) * 1_000) / (ended - began)
  }
  const postroad = async (): Promise<number> => {
    await server.stop()
    server = await stage.server({ folder, roles: 'web' })
    await load.ask('closed', { port: server.port, path, secret: SECRET, connections: 64, until: { count: total } })
    await withDatabase(server.target, settle)
    await server.stop()
    server = await stage.server({ folder })
    const found = await rate(server.target, 'workflow_step_runs', done)
    done += total * STEPS
    return found
  }
  const rounds: Record<Rival | 'ours', number[]> = { ours: [], dbos: [], openworkflow: [] }
  const rival = (name: Rival) => async () =>
    void rounds[name].push(
      await withRival(stage, server.target, name, async ({ worker, target }) => {
        await worker.ask('fill', { count: total })
        await withDatabase(target, settle)
        await worker.ask('work', { concurrency: CONCURRENCY })
        return rate(target, 'bench_steps', 0)
      }),
    )
  await inTurns(stage.rounds, {
    ours: async () => void rounds.ours.push(await postroad()),
    dbos: rival('dbos'),
    openworkflow: rival('openworkflow'),
  })
  await load.stop()
  await server.stop()
  return besideEach({ what: 'Steps of workflows', unit: '/s', aim: { leastRatio: 3 } }, rounds)
}

type Open = { readonly worker: { ask: ReturnType<Stage['child']>['ask'] }; readonly target: DatabaseTarget }

// oxlint-disable-next-line max-params -- the stage, the server, the rival, and the use of it
async function withRival<T>(
  stage: Stage,
  server: DatabaseTarget,
  name: Rival,
  use: (open: Open) => Promise<T>,
): Promise<T> {
  const target = { ...server, database: `bench_${name}` }
  await withDatabase(server, (db) => makeDatabase(db, target.database))
  const worker = stage.child<EngineVerbs>(`rivals/${name}.ts`)
  await worker.ask('open', { target: socketOf(target) })
  const found = await use({ worker, target })
  await worker.stop()
  await withDatabase(server, (db) => dropDatabase(db, target.database))
  return found
}

/** The bench runs the embedded PostgreSQL, which listens on a socket only. */
function socketOf(target: DatabaseTarget): Parameters<EngineVerbs['open']>[0]['target'] {
  if ('url' in target) throw new Error('The bench measures the embedded PostgreSQL.')
  return target
}

/** Transactions of a database in which ten thousand workflows wait, beyond those without any. */
async function waits(stage: Stage): Promise<readonly Figure[]> {
  const folder = await stage.folder()
  let server = await stage.server({ folder })
  const load = stage.child<LoadVerbs>('load.ts')
  const admin = await adminOf(server, folder)
  const path = await makeEndpoint(admin, 'bench', SECRET)
  const idleRate = async (target: DatabaseTarget): Promise<number> => {
    await sleep(WARM_MS)
    return withDatabase(target, async (db) => {
      const [count, at] = [await countTransactions(db), nowMs()]
      await sleep(stage.seconds * 5_000)
      return ((await countTransactions(db)) - count) / ((nowMs() - at) / 1_000)
    })
  }
  const none = await idleRate(server.target)
  const conditions = [{ path: 'id', equals: '{{ payload.id }}' }]
  await makeWorkflow(admin, 'bench', {
    steps: [{ id: 'wait', type: 'wait_for_event', dataset: 'replies', conditions, timeout_seconds: 3_600 }],
  })
  await load.ask('closed', { port: server.port, path, secret: SECRET, connections: 64, until: { count: WAITING } })
  await reached(server.target, 'workflow_step_runs', WAITING)
  await server.stop()
  server = await stage.server({ folder })
  const ours = (await idleRate(server.target)) - none
  const found: Record<Rival | 'ours', number[]> = { ours: [ours], dbos: [], openworkflow: [] }
  for (const name of ['dbos', 'openworkflow'] as const) {
    // oxlint-disable-next-line no-await-in-loop -- one rival at a time
    const rate = await withRival(stage, server.target, name, async ({ worker, target }) => {
      await worker.ask('work', { concurrency: CONCURRENCY })
      const before = await idleRate(target)
      await worker.ask('fillWaiting', { count: WAITING })
      return (await idleRate(target)) - before
    })
    found[name].push(rate)
  }
  await load.stop()
  await server.stop()
  return besideEach({ what: `Transactions for ${WAITING.toLocaleString('en-US')} that wait`, unit: '/s' }, found)
}

function besideEach(
  of: Pick<Figure, 'what' | 'unit' | 'aim'>,
  found: Readonly<Record<Rival | 'ours', readonly number[]>>,
): readonly Figure[] {
  const rivals: readonly Rival[] = ['dbos', 'openworkflow']
  return rivals.map((rival, index) => ({
    ...of,
    what: index === 0 ? of.what : 'the same',
    ours: median(found.ours),
    beside: { name: RIVALS[rival], value: median(found[rival]) },
  }))
}
