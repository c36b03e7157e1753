import { adminOf, makeDestination, makeEndpoint, type Postroad } from '../postroad.ts'
import { drained, type Drained } from '../drained.ts'
import { SECRET } from '../payload.ts'
import { countHeldLanes, settle, withDatabase } from '../queries.ts'
import { median } from '../statistics.ts'
import { inTurns, type Stage } from '../stage.ts'
import type { Child } from '../child.ts'
import type { LoadVerbs } from '../load.ts'
import type { SinkVerbs } from '../sink.ts'
import type { Figure } from '../table.ts'

const LANES = 8
const IN_FLIGHT = 16
const DELIVERIES_PER_SECOND = 10_000
/** The processes share the destinations in the first seconds. */
const WARM_SHARE = 0.5
/** While all destinations still have work. */
const LOOK_SHARE = 0.8
const PATIENCE_MS = 120_000
const PROCESSES = [1, 2, 3] as const

type Round = Drained & { readonly lanes: readonly number[] }

/** How fast two and three processes drain a backlog of eight destinations, beside one, and how many lanes each of them owns. */
export async function processes(stage: Stage): Promise<readonly Figure[]> {
  const folder = await stage.folder()
  const load = stage.child<LoadVerbs>('load.ts')
  const sink = stage.child<SinkVerbs>('sink.ts')
  const port = await sink.ask('listen', null)
  let server = await stage.server({ folder })
  const admin = await adminOf(server, folder)
  const path = await makeEndpoint(admin, 'shared', SECRET)
  for (let n = 1; n <= LANES; n += 1) {
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    await makeDestination(admin, { name: `shared-${n}`, dataset: 'shared', port, maxInFlight: IN_FLIGHT })
  }
  const total = stage.seconds * DELIVERIES_PER_SECOND

  const round = async (count: number): Promise<Round> => {
    await server.stop()
    server = await stage.server({ folder, roles: 'web,work' })
    const until = { count: total / LANES }
    await load.ask('closed', { port: server.port, path, secret: SECRET, connections: 64, until })
    await withDatabase(server.target, settle)
    await server.stop()
    let looked: Promise<readonly number[]> = Promise.resolve([])
    const drain = await drained({ sink, folder, total, warmShare: WARM_SHARE }, async () => {
      server = await stage.server({ folder, settings: { PROCESSES: String(count) } })
      looked = lookAt({ sink, total, server })
      return server
    })
    const lanes = await looked
    stage.say(`${count} ${count === 1 ? 'process' : 'processes'}: lanes held late in the backlog: ${lanes.join(', ')}`)
    return { ...drain, lanes }
  }

  const rounds = new Map<number, Round[]>(PROCESSES.map((count) => [count, []]))
  await inTurns(
    stage.rounds,
    Object.fromEntries(
      PROCESSES.map((count) => [String(count), async () => void rounds.get(count)?.push(await round(count))]),
    ),
  )
  await Promise.all([load.stop(), sink.stop()])
  await server.stop()
  return figuresOf(rounds)
}

async function lookAt(at: { sink: Child<SinkVerbs>; total: number; server: Postroad }): Promise<readonly number[]> {
  await at.sink.ask('reached', { count: at.total * LOOK_SHARE, patienceMs: PATIENCE_MS })
  return withDatabase(at.server.target, countHeldLanes)
}

function figuresOf(rounds: ReadonlyMap<number, readonly Round[]>): readonly Figure[] {
  const of = (count: number, value: (round: Round) => number): number => median((rounds.get(count) ?? []).map(value))
  const beside = { name: 'one process', value: of(1, (round) => round.perSecond) }
  return [2, 3].flatMap((count) => [
    {
      what: `Delivery, 8 destinations, PROCESSES=${count}`,
      unit: '/s',
      ours: of(count, (round) => round.perSecond),
      beside,
    },
    {
      what: 'the most lanes that one of them owns',
      unit: 'lanes',
      ours: of(count, (round) => Math.max(0, ...round.lanes)),
      beside: undefined,
      aim: { most: Math.ceil(LANES / count) },
    },
  ])
}
