import { setTimeout as sleep } from 'node:timers/promises'
import { adminOf, makeDestination } from '../postroad.ts'
import { postgresPids, processorSeconds, residentMib } from '../processes.ts'
import { countTransactions, multiplyDestination, settle, withDatabase } from '../queries.ts'
import { nowMs } from '../statistics.ts'
import type { Stage } from '../stage.ts'
import type { Figure } from '../table.ts'

const DESTINATIONS = 10_000
const WARM_MS = 3_000
/** Nothing listens on this port, and nothing is sent to it. */
const PORT = 9

type Idle = { readonly process: number; readonly postgres: number; readonly transactions: number; readonly mib: number }

/** The cost of a server without work and with ten thousand destinations, beside one with a single destination. */
export async function idle(stage: Stage): Promise<readonly Figure[]> {
  const folder = await stage.folder()
  let server = await stage.server({ folder })
  await makeDestination(await adminOf(server, folder), { name: 'bench', port: PORT, maxInFlight: 10 })
  const measure = async (): Promise<Idle> => {
    await server.stop()
    server = await stage.server({ folder })
    await sleep(WARM_MS)
    return withDatabase(server.target, async (db) => {
      // Listed in advance, so that a backend that comes or goes does not count as work.
      const pids = await postgresPids(folder)
      const look = async () => ({
        at: nowMs(),
        process: await processorSeconds([server.pid]),
        postgres: await processorSeconds(pids),
        transactions: await countTransactions(db),
      })
      const before = await look()
      await sleep(stage.seconds * 5_000)
      const after = await look()
      const minutes = (after.at - before.at) / 60_000
      return {
        process: (after.process - before.process) / minutes,
        postgres: (after.postgres - before.postgres) / minutes,
        transactions: (after.transactions - before.transactions) / minutes / 60,
        mib: await residentMib(server.pid),
      }
    })
  }
  const one = await measure()
  await withDatabase(server.target, async (db) => {
    await multiplyDestination(db, { count: DESTINATIONS - 1 })
    await settle(db)
  })
  const many = await measure()
  await server.stop()
  const figure = (what: string, unit: string, of: keyof Idle): Figure => ({
    what,
    unit,
    ours: many[of],
    beside: { name: 'one destination', value: one[of] },
  })
  return [
    figure('Idle with 10,000 destinations, a minute, server', 's', 'process'),
    figure('the same, PostgreSQL', 's', 'postgres'),
    { ...figure('its transactions', '/s', 'transactions'), aim: { mostRatio: 1.25 } },
    figure('its memory, server', 'MiB', 'mib'),
  ]
}
