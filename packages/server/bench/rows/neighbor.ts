import { SECRET } from '../payload.ts'
import { adminOf, makeDestination, makeEndpoint } from '../postroad.ts'
import { quantile } from '../statistics.ts'
import type { LoadVerbs } from '../load.ts'
import type { SinkVerbs } from '../sink.ts'
import type { Stage } from '../stage.ts'
import type { Figure } from '../table.ts'

const OTHERS = Array.from({ length: 99 }, (_none, n) => `other_${n + 1}`)
const PER_SECOND = 198
/** The rate to the hundredth destination, which answers in the first half and never in the second. */
const NEIGHBOR_PER_SECOND = 50
const IN_FLIGHT = 100
const TIMEOUT_MS = 60_000
const WARM_MS = 5_000
const PATIENCE_MS = 30_000
const RATIO_MAX = 2

/**
 * From the POST of an event to its arrival at one of 99 destinations while the hundredth never answers, beside the same
 * when it answers.
 */
export async function neighbor(stage: Stage): Promise<readonly Figure[]> {
  const folder = await stage.folder()
  // The bench creates a hundred destinations in quick succession.
  const server = await stage.server({ folder, settings: { ADMIN_REQUESTS_MAX: '0' } })
  const [load, besideLoad] = [stage.child<LoadVerbs>('load.ts'), stage.child<LoadVerbs>('load.ts')]
  const sink = stage.child<SinkVerbs>('sink.ts')
  const [port, mutePort] = [await sink.ask('listen', null), await sink.ask('listenMute', null)]
  const admin = await adminOf(server, folder)
  const path = await makeEndpoint(admin, 'bench', SECRET)
  for (const name of [...OTHERS, 'alive', 'dead']) {
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    await makeDestination(admin, {
      name,
      port: name === 'dead' ? mutePort : port,
      maxInFlight: IN_FLIGHT,
      timeoutMs: TIMEOUT_MS,
    })
  }
  let from = 1_000_000
  const run = async (beside: 'alive' | 'dead', ms: number): Promise<readonly number[]> => {
    const at = { port: server.port, path, secret: SECRET, ms }
    const [mine, theirs] = await Promise.all([
      load.ask('open', { ...at, perSecond: PER_SECOND, from, suffixes: OTHERS.map((name) => `/${name}`) }),
      besideLoad.ask('open', {
        ...at,
        perSecond: NEIGHBOR_PER_SECOND,
        from: from + 50_000_000,
        suffixes: [`/${beside}`],
      }),
    ])
    if (mine.refused + theirs.refused > 0) throw new Error(`${mine.refused + theirs.refused} events were refused.`)
    const receivedAt = await sink.ask('receivedAt', { from, count: mine.sentAt.length, patienceMs: PATIENCE_MS })
    from += mine.sentAt.length
    return receivedAt.map((received, index) => received - (mine.sentAt[index] ?? NaN))
  }
  await run('alive', WARM_MS)
  const calm = await run('alive', stage.seconds * 2_000)
  const stormy = await run('dead', stage.seconds * 2_000)
  await Promise.all([load.stop(), besideLoad.stop(), sink.stop()])
  await server.stop()
  const figure = (share: number): Omit<Figure, 'what'> => ({
    unit: 'ms',
    ours: quantile(stormy, share),
    beside: { name: 'all of them alive', value: quantile(calm, share) },
    aim: { mostRatio: RATIO_MAX },
  })
  return [
    { what: 'Sent → received, 1 dead of 100, by the others, p50', ...figure(0.5) },
    { what: 'the same, p99', ...figure(0.99) },
  ]
}
