import { drained, type Drained } from '../drained.ts'
import { SECRET } from '../payload.ts'
import { adminOf, makeDestination, makeEndpoint } from '../postroad.ts'
import { settle, withDatabase } from '../queries.ts'
import { median } from '../statistics.ts'
import { inTurns, type Stage } from '../stage.ts'
import type { ClosedResult, LoadVerbs } from '../load.ts'
import type { SinkVerbs } from '../sink.ts'
import type { Figure } from '../table.ts'

const TEN = 10
const IN_FLIGHT = 100
const DELIVERIES_PER_SECOND = 5_000

type Round = Drained & { readonly accepted: ClosedResult }

/**
 * Each event goes to ten destinations, beside the same number of deliveries of events that go to one; and the cost of accepting
 * such an event.
 */
export async function fanOut(stage: Stage): Promise<readonly Figure[]> {
  const folder = await stage.folder()
  const load = stage.child<LoadVerbs>('load.ts')
  const sink = stage.child<SinkVerbs>('sink.ts')
  const port = await sink.ask('listen', null)
  let server = await stage.server({ folder })
  const admin = await adminOf(server, folder)
  const paths = { one: await makeEndpoint(admin, 'one', SECRET), ten: await makeEndpoint(admin, 'ten', SECRET) }
  await makeDestination(admin, { name: 'one', port, maxInFlight: IN_FLIGHT })
  for (let n = 1; n <= TEN; n += 1) {
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    await makeDestination(admin, { name: `ten-${n}`, dataset: 'ten', port, maxInFlight: IN_FLIGHT / TEN })
  }
  const total = stage.seconds * DELIVERIES_PER_SECOND

  // A server that does not deliver makes the backlog. A server that finds it at its start drains it.
  const round = async (name: keyof typeof paths): Promise<Round> => {
    await server.stop()
    server = await stage.server({ folder, roles: 'web,work' })
    const until = { count: name === 'one' ? total : total / TEN }
    const accepted = await load.ask('closed', {
      port: server.port,
      path: paths[name],
      secret: SECRET,
      connections: 64,
      until,
    })
    await withDatabase(server.target, settle)
    await server.stop()
    const drain = await drained({ sink, folder, total }, async () => {
      server = await stage.server({ folder })
      return server
    })
    return { ...drain, accepted }
  }
  const rounds = { one: [] as Round[], ten: [] as Round[] }
  await inTurns(stage.rounds, {
    ten: async () => void rounds.ten.push(await round('ten')),
    one: async () => void rounds.one.push(await round('one')),
  })
  await Promise.all([load.stop(), sink.stop()])
  await server.stop()
  return figuresOf(rounds)
}

function figuresOf({
  one,
  ten,
}: {
  readonly one: readonly Round[]
  readonly ten: readonly Round[]
}): readonly Figure[] {
  const figure = (what: string, unit: string, of: (round: Round) => number): Figure => ({
    what,
    unit,
    ours: median(ten.map(of)),
    beside: { name: '1 → 1', value: median(one.map(of)) },
  })
  return [
    { ...figure('Deliveries of a fan-out 1 → 10', '/s', (round) => round.perSecond), aim: { leastRatio: 0.9 } },
    figure('one of them, server', 'µs', (round) => round.processUs),
    figure('one of them, PostgreSQL', 'µs', (round) => round.postgresUs),
    figure('Durable ingest of events that go to ten', '/s', (round) => round.accepted.perSecond),
  ]
}
