import { SECRET } from '../payload.ts'
import { adminOf, makeEndpoint } from '../postroad.ts'
import { postgresSeconds, processorSeconds } from '../processes.ts'
import { countWalSyncs, makeDatabase, settle, withDatabase } from '../queries.ts'
import { median } from '../statistics.ts'
import { inTurns, type Stage } from '../stage.ts'
import type { BareHttpVerbs } from '../bare-http.ts'
import type { BareInsertsVerbs } from '../bare-inserts.ts'
import type { ClosedResult, ClosedRun, LoadVerbs, Target } from '../load.ts'
import type { Figure } from '../table.ts'

const CONNECTIONS = 64
const WARM_MS = 5_000
const BARE = { batchRows: CONNECTIONS, batchesInFlight: 2 }
const BARE_HTTP = 'bare `node:http`'
const BARE_INSERTS = 'bare batched inserts'

/** One round: its rate and latencies, and the processor time per event on each side in µs. */
type Round = Pick<ClosedResult, 'perSecond' | 'p50Ms' | 'p99Ms'> & {
  readonly processUs: number
  readonly postgresUs: number
  readonly syncs: number
}

/** Durable ingest of signed 1 KiB events at an endpoint without destinations, beside bare HTTP and beside bare inserts. */
export async function ingest(stage: Stage): Promise<readonly Figure[]> {
  const folder = await stage.folder()
  const server = await stage.server({ folder })
  const path = await makeEndpoint(await adminOf(server, folder), 'bench', SECRET)
  const bareHttp = stage.child<BareHttpVerbs>('bare-http.ts')
  const bareInserts = stage.child<BareInsertsVerbs>('bare-inserts.ts')
  const load = stage.child<LoadVerbs>('load.ts')
  await withDatabase(server.target, (db) => makeDatabase(db, 'bench_bare'))
  await bareInserts.ask('open', { ...server.target, database: 'bench_bare' })

  const ours: Target = { port: server.port, path, secret: SECRET }
  const ceiling: Target = { port: await bareHttp.ask('listen', null), path: '/', secret: SECRET }
  const closed = (target: Target, until: ClosedRun['until']): Promise<ClosedResult> =>
    load.ask('closed', { ...target, connections: CONNECTIONS, until })
  const inserted = async (ms: number): Promise<ClosedResult> => {
    const { rows, perSecond } = await bareInserts.ask('run', { ms, ...BARE })
    return { answered: rows, perSecond, p50Ms: NaN, p99Ms: NaN }
  }
  // Cleans up after the previous contender, so that this one does not pay for it.
  const settled = async (): Promise<void> => {
    await withDatabase({ ...server.target, database: 'bench_bare' }, settle)
    await withDatabase(server.target, settle)
  }
  const measured = async (pid: number, work: () => Promise<ClosedResult>): Promise<Round> => {
    await settled()
    const look = async () => ({
      process: await processorSeconds([pid]),
      postgres: await postgresSeconds(folder),
      syncs: await withDatabase(server.target, countWalSyncs),
    })
    const before = await look()
    const { answered, perSecond, p50Ms, p99Ms } = await work()
    const after = await look()
    const each = (seconds: number): number => (seconds * 1e6) / answered
    return {
      perSecond,
      p50Ms,
      p99Ms,
      processUs: each(after.process - before.process),
      postgresUs: each(after.postgres - before.postgres),
      syncs: ((after.syncs - before.syncs) / answered) * perSecond,
    }
  }
  const ms = stage.seconds * 1_000
  const warmMs = Math.min(WARM_MS, 2 * ms)
  await closed(ours, { ms: warmMs })
  await closed(ceiling, { ms: warmMs })
  await inserted(warmMs)

  const rounds = { ours: [] as Round[], http: [] as Round[], inserts: [] as Round[] }
  await inTurns(stage.rounds, {
    ours: async () => void rounds.ours.push(await measured(server.pid, () => closed(ours, { ms }))),
    http: async () => void rounds.http.push(await measured(bareHttp.pid, () => closed(ceiling, { ms }))),
    inserts: async () => void rounds.inserts.push(await measured(bareInserts.pid, () => inserted(ms))),
  })
  await Promise.all([load.stop(), bareHttp.stop(), bareInserts.stop()])
  await server.stop()
  return figuresOf(rounds)
}

function figuresOf({
  ours,
  http,
  inserts,
}: Readonly<Record<'ours' | 'http' | 'inserts', readonly Round[]>>): readonly Figure[] {
  const perSecond = medianOf(ours, 'perSecond')
  const besideHttp = (name: keyof Round) => ({
    ours: medianOf(ours, name),
    beside: { name: BARE_HTTP, value: medianOf(http, name) },
  })
  const besideInserts = (name: keyof Round) => ({
    ours: medianOf(ours, name),
    beside: { name: BARE_INSERTS, value: medianOf(inserts, name) },
  })
  return [
    {
      what: 'Durable ingest, signature checked',
      unit: '/s',
      ours: perSecond,
      beside: besideHttp('perSecond').beside,
      aim: { leastRatio: 0.4 },
    },
    { what: 'the same', unit: '/s', ...besideInserts('perSecond') },
    { what: 'its answer, p50', unit: 'ms', ...besideHttp('p50Ms') },
    { what: 'its answer, p99', unit: 'ms', ...besideHttp('p99Ms') },
    { what: 'its processor time, server', unit: 'µs', ...besideHttp('processUs') },
    { what: 'its processor time, PostgreSQL', unit: 'µs', ...besideInserts('postgresUs') },
    { what: 'Log writes forced to disk during it', unit: '/s', ...besideInserts('syncs') },
  ]
}

function medianOf(rounds: readonly Round[], name: keyof Round): number {
  return median(rounds.map((round) => round[name]))
}
