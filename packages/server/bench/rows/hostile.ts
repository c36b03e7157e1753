import { SECRET } from '../payload.ts'
import { adminOf, makeEndpoint } from '../postroad.ts'
import { median, quantile } from '../statistics.ts'
import { inTurns, type Stage } from '../stage.ts'
import type { LoadVerbs } from '../load.ts'
import type { SlowSendersVerbs } from '../slow-senders.ts'
import type { Figure } from '../table.ts'

const PER_SECOND = 200
const WARM_MS = 2_000
const SLOW = 1_000

type Round = { readonly p50: number; readonly p99: number }

/** How long good requests wait for their 201 at a steady rate beside a thousand slow senders, and without them. */
export async function hostile(stage: Stage): Promise<readonly Figure[]> {
  const folder = await stage.folder()
  const server = await stage.server({ folder })
  const load = stage.child<LoadVerbs>('load.ts')
  const slow = stage.child<SlowSendersVerbs>('slow-senders.ts')
  const path = await makeEndpoint(await adminOf(server, folder), 'bench', SECRET)
  const target = { port: server.port, path, secret: SECRET }
  const run = async (ms: number): Promise<Round> => {
    const { sentAt, answeredAt, refused } = await load.ask('open', { ...target, perSecond: PER_SECOND, ms, from: 0 })
    if (refused > 0) throw new Error(`${refused} good requests were refused.`)
    const tookMs = sentAt.map((at, index) => (answeredAt[index] ?? NaN) - at)
    return { p50: quantile(tookMs, 0.5), p99: quantile(tookMs, 0.99) }
  }
  const rounds = { alone: [] as Round[], beside: [] as Round[] }
  await run(WARM_MS)
  await inTurns(stage.rounds, {
    alone: async () => void rounds.alone.push(await run(stage.seconds * 1_000)),
    beside: async () => {
      await slow.ask('hold', { port: server.port, path, count: SLOW })
      rounds.beside.push(await run(stage.seconds * 1_000))
      await slow.ask('release', null)
    },
  })
  await Promise.all([load.stop(), slow.stop()])
  await server.stop()
  const figure = (name: keyof Round) => ({
    unit: 'ms',
    ours: median(rounds.beside.map((round) => round[name])),
    beside: { name: 'without them', value: median(rounds.alone.map((round) => round[name])) },
  })
  return [
    { what: `Answer at ${PER_SECOND}/s beside ${SLOW.toLocaleString('en-US')} slow senders, p50`, ...figure('p50') },
    { what: 'the same, p99', ...figure('p99'), aim: { mostRatio: 2 } },
  ]
}
