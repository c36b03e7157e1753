import { SECRET } from '../payload.ts'
import { adminOf, makeDestination, makeEndpoint } from '../postroad.ts'
import { drained, type Drained } from '../drained.ts'
import { dropDatabase, makeDatabase, settle, urlOf, withDatabase } from '../queries.ts'
import { median } from '../statistics.ts'
import { inTurns, type Stage } from '../stage.ts'
import type { LoadVerbs } from '../load.ts'
import type { RivalVerbs } from '../rivals/verbs.ts'
import type { SinkVerbs } from '../sink.ts'
import type { Figure } from '../table.ts'

const CONCURRENCY = 100
const BACKLOG_PER_SECOND = 5_000
const GRAPHILE = 'graphile-worker 0.18.0'
const BATCHED = 'graphile-worker, batched completion'
const BOSS = 'pg-boss 10.4.2'

/** How fast a backlog drains into one sink, beside job queues that send the same POST from the same PostgreSQL. */
export async function delivery(stage: Stage): Promise<readonly Figure[]> {
  const folder = await stage.folder()
  const load = stage.child<LoadVerbs>('load.ts')
  const sink = stage.child<SinkVerbs>('sink.ts')
  const sinkPort = await sink.ask('listen', null)
  let server = await stage.server({ folder })
  const admin = await adminOf(server, folder)
  const path = await makeEndpoint(admin, 'bench', SECRET)
  await makeDestination(admin, { name: 'bench', port: sinkPort, maxInFlight: CONCURRENCY })
  const total = stage.seconds * BACKLOG_PER_SECOND

  // A server that does not deliver makes the backlog. A server that finds it at its start drains it.
  const postroad = async (): Promise<Drained> => {
    await server.stop()
    server = await stage.server({ folder, roles: 'web,work' })
    await load.ask('closed', { port: server.port, path, secret: SECRET, connections: 64, until: { count: total } })
    await withDatabase(server.target, settle)
    await server.stop()
    return drained({ sink, folder, total }, async () => {
      server = await stage.server({ folder })
      return server
    })
  }

  const rival = async (file: string, name: string): Promise<Drained> => {
    const target = { ...server.target, database: name }
    await withDatabase(server.target, (db) => makeDatabase(db, name))
    const worker = stage.child<RivalVerbs>(file)
    await worker.ask('open', { connectionString: urlOf(target) })
    await worker.ask('fill', { count: total })
    await withDatabase(target, settle)
    const round = await drained({ sink, folder, total }, async () => {
      await worker.ask('work', { port: sinkPort, concurrency: CONCURRENCY })
      return worker
    })
    await worker.ask('end', null)
    await worker.stop()
    await withDatabase(server.target, (db) => dropDatabase(db, name))
    return round
  }

  const rounds = { ours: [] as Drained[], graphile: [] as Drained[], batched: [] as Drained[], boss: [] as Drained[] }
  await inTurns(stage.rounds, {
    ours: async () => void rounds.ours.push(await postroad()),
    graphile: async () => void rounds.graphile.push(await rival('rivals/graphile-worker.ts', 'bench_graphile')),
    batched: async () => void rounds.batched.push(await rival('rivals/graphile-worker-batched.ts', 'bench_batched')),
    boss: async () => void rounds.boss.push(await rival('rivals/pg-boss.ts', 'bench_boss')),
  })
  await Promise.all([load.stop(), sink.stop()])
  await server.stop()
  return figuresOf(rounds)
}

type Rounds = Readonly<Record<'ours' | 'graphile' | 'batched' | 'boss', readonly Drained[]>>

function figuresOf(rounds: Rounds): readonly Figure[] {
  const { ours, graphile, batched, boss } = rounds
  const rivals = [
    [GRAPHILE, graphile],
    [BATCHED, batched],
    [BOSS, boss],
  ] as const
  const figures = (what: string, name: keyof Drained, unit: string): readonly Figure[] =>
    rivals.map(([rivalName, rival], index) => ({
      what: index === 0 ? what : 'the same',
      unit,
      ours: medianOf(ours, name),
      beside: { name: rivalName, value: medianOf(rival, name) },
      ...(name === 'perSecond' && rivalName !== BATCHED ? { aim: { leastRatio: 1.2 } } : {}),
    }))
  return [
    ...figures('Sustained delivery, signed, attempts stored', 'perSecond', '/s'),
    ...figures('its processor time, server', 'processUs', 'µs'),
    ...figures('its processor time, PostgreSQL', 'postgresUs', 'µs'),
    ...figures('Memory of the sender after it', 'mib', 'MiB'),
  ]
}

function medianOf(rounds: readonly Drained[], name: keyof Drained): number {
  return median(rounds.map((round) => round[name]))
}
