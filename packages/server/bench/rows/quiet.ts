import { setTimeout as sleep } from 'node:timers/promises'
import { SECRET } from '../payload.ts'
import { postgresMib, postgresSeconds, processorSeconds, shareMib } from '../processes.ts'
import { aRoad } from '../road.ts'
import { countTransactions, countWalSyncs, withDatabase } from '../queries.ts'
import { nowMs } from '../statistics.ts'
import type { Stage } from '../stage.ts'
import type { Figure, Table } from '../table.ts'

const RATES = [1, 20, 200]
const MEASURED_S = 60
/** At the highest rate the memory grows for this long. */
const WARM_S = 30
const PATIENCE_MS = 30_000

type Cost = {
  readonly perSecond: number
  /** Cores in use on average. */
  readonly server: number
  readonly postgres: number
  /** Of one event: processor time in µs, transactions, and forced writes of the log. */
  readonly us: number
  readonly transactions: number
  readonly syncs: number
  readonly serverMib: number
  readonly postgresMib: number
}

/** The cost of a steady stream of events, from 1 to 200 a second: 1 KiB, signed, one destination. */
export async function quiet(stage: Stage): Promise<readonly Figure[]> {
  const { folder, server, load, sink, path } = await aRoad(stage)

  let from = 1_000_000
  const run = async (perSecond: number, seconds: number): Promise<number> => {
    const ms = seconds * 1_000
    const { sentAt, refused } = await load.ask('open', { port: server.port, path, secret: SECRET, perSecond, ms, from })
    await sink.ask('receivedAt', { from, count: sentAt.length, patienceMs: PATIENCE_MS })
    from += sentAt.length
    if (refused > 0) throw new Error(`${refused} events were refused.`)
    return sentAt.length
  }
  const seconds = (MEASURED_S * stage.seconds) / 4
  const measure = async (perSecond: number): Promise<Cost> => {
    stage.say(`  ${perSecond} events a second …`)
    await run(perSecond, perSecond === Math.max(...RATES) ? (WARM_S * stage.seconds) / 4 : 2)
    return withDatabase(server.target, async (db) => {
      const look = async () => ({
        at: nowMs(),
        server: await processorSeconds([server.pid]),
        postgres: await postgresSeconds(folder),
        transactions: await countTransactions(db),
        syncs: await countWalSyncs(db),
      })
      const before = await look()
      const events = await run(perSecond, seconds)
      // Statistics of PostgreSQL arrive up to a second later.
      await sleep(1_500)
      const after = await look()
      const wall = (after.at - before.at) / 1_000
      const [ours, theirs] = [after.server - before.server, after.postgres - before.postgres]
      return {
        perSecond,
        server: ours / wall,
        postgres: theirs / wall,
        us: ((ours + theirs) * 1_000_000) / events,
        transactions: (after.transactions - before.transactions) / events,
        syncs: (after.syncs - before.syncs) / events,
        serverMib: await shareMib(server.pid),
        postgresMib: await postgresMib(folder),
      }
    })
  }
  const costs: Cost[] = []
  for (const perSecond of RATES) {
    // oxlint-disable-next-line no-await-in-loop -- one rate after the other
    costs.push(await measure(perSecond))
  }
  await Promise.all([load.stop(), sink.stop()])
  await server.stop()
  stage.addTable(tableOf(costs))
  const most = costs.at(-1)
  if (most === undefined) return []
  const at = `at ${most.perSecond}/s`
  return [
    { what: `Transactions an event ${at}`, unit: '', ours: most.transactions, beside: undefined, aim: { most: 1.3 } },
    { what: `Forced writes an event ${at}`, unit: '', ours: most.syncs, beside: undefined, aim: { most: 1.05 } },
    { what: `Processor time an event ${at}`, unit: 'µs', ours: most.us, beside: undefined },
    {
      what: `Memory ${at}, with PostgreSQL`,
      unit: 'MiB',
      ours: most.serverMib + most.postgresMib,
      beside: undefined,
      aim: { most: 350 },
    },
  ]
}

const tableOf = (costs: readonly Cost[]): Table => ({
  title: 'A steady stream of events',
  head: [
    'Events a second',
    'server, cores',
    'PostgreSQL, cores',
    'an event: µs',
    'transactions',
    'forced writes',
    'server, MiB',
    'PostgreSQL, MiB',
  ],
  rows: costs.map((cost) => [
    String(cost.perSecond),
    cost.server.toFixed(3),
    cost.postgres.toFixed(3),
    cost.us.toFixed(0),
    cost.transactions.toFixed(2),
    cost.syncs.toFixed(2),
    cost.serverMib.toFixed(0),
    cost.postgresMib.toFixed(0),
  ]),
})
