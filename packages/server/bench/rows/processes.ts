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
const DELIVERIES_PER_SECOND = 10_000
/** The processes share the destinations in the first seconds. */
const WARM_SHARE = 0.5
/** While all destinations still have work. */
const LOOK_SHARE = 0.8
const PATIENCE_MS = 120_000
const PROCESSES = [1, 2, 3] as const

/** `slow`: each request takes a second, so a process can start no more than its 2,000 requests at once allow. */
const RECEIVERS = [
  { name: 'shared', inFlight: 16, answerMs: 0 },
  { name: 'slow', inFlight: 1_000, answerMs: 1_000 },
] as const
type Receivers = (typeof RECEIVERS)[number]
type Round = Drained & { readonly lanes: readonly number[] }
type Rounds = ReadonlyMap<number, Round[]>

/**
 * How fast two and three processes drain a backlog of eight destinations, beside one, and how many lanes each of them owns:
 * receivers that answer immediately, and receivers that take a second.
 */
export async function processes(stage: Stage): Promise<readonly Figure[]> {
  const folder = await stage.folder()
  const load = stage.child<LoadVerbs>('load.ts')
  const sink = stage.child<SinkVerbs>('sink.ts')
  const port = await sink.ask('listen', null)
  let server = await stage.server({ folder })
  const admin = await adminOf(server, folder)
  const paths = new Map<string, string>()
  for (const { name, inFlight } of RECEIVERS) {
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    paths.set(name, await makeEndpoint(admin, name, SECRET))
    for (let n = 1; n <= LANES; n += 1) {
      // oxlint-disable-next-line no-await-in-loop -- as above
      await makeDestination(admin, { name: `${name}-${n}`, dataset: name, port, maxInFlight: inFlight })
    }
  }
  const total = stage.seconds * DELIVERIES_PER_SECOND

  const round = async (count: number, { name, answerMs }: Receivers): Promise<Round> => {
    await server.stop()
    server = await stage.server({ folder, roles: 'web,work' })
    const until = { count: total / LANES }
    await load.ask('closed', { port: server.port, path: paths.get(name) ?? '', secret: SECRET, connections: 64, until })
    await withDatabase(server.target, settle)
    await server.stop()
    await sink.ask('answerAfter', { ms: answerMs })
    let looked: Promise<readonly number[]> = Promise.resolve([])
    const drain = await drained({ sink, folder, total, warmShare: WARM_SHARE }, async () => {
      server = await stage.server({ folder, settings: { PROCESSES: String(count) } })
      looked = lookAt({ sink, total, server })
      return server
    })
    const lanes = await looked
    stage.say(
      `${name}, ${count} of PROCESSES: ${Math.round(drain.perSecond)}/s, lanes late in the backlog: ${lanes.join(', ')}`,
    )
    return { ...drain, lanes }
  }

  const rounds = new Map(
    RECEIVERS.map(({ name }) => [name, new Map<number, Round[]>(PROCESSES.map((count) => [count, []]))]),
  )
  const contenders = RECEIVERS.flatMap((receivers) =>
    PROCESSES.map((count) => [
      `${receivers.name} ${count}`,
      async () =>
        void rounds
          .get(receivers.name)
          ?.get(count)
          ?.push(await round(count, receivers)),
    ]),
  )
  await inTurns(stage.rounds, Object.fromEntries(contenders))
  await Promise.all([load.stop(), sink.stop()])
  await server.stop()
  return RECEIVERS.flatMap((receivers) => figuresOf(receivers, rounds.get(receivers.name) ?? new Map()))
}

async function lookAt(at: { sink: Child<SinkVerbs>; total: number; server: Postroad }): Promise<readonly number[]> {
  await at.sink.ask('reached', { count: at.total * LOOK_SHARE, patienceMs: PATIENCE_MS })
  return withDatabase(at.server.target, countHeldLanes)
}

function figuresOf({ answerMs }: Receivers, rounds: Rounds): readonly Figure[] {
  const of = (count: number, value: (round: Round) => number): number => median((rounds.get(count) ?? []).map(value))
  const beside = { name: 'one process', value: of(1, (round) => round.perSecond) }
  return [2, 3].flatMap((count): readonly Figure[] => {
    const figure = { unit: '/s', ours: of(count, (round) => round.perSecond), beside } as const
    if (answerMs > 0) {
      const aim = { leastRatio: 1.5 }
      return [{ ...figure, what: `to receivers that take a second, PROCESSES=${count}`, aim }]
    }
    return [
      { ...figure, what: `Delivery, 8 destinations, PROCESSES=${count}` },
      {
        what: 'the most lanes that one of them owns',
        unit: 'lanes',
        ours: of(count, (round) => Math.max(0, ...round.lanes)),
        beside: undefined,
        aim: { most: Math.ceil(LANES / count) },
      },
    ]
  })
}
