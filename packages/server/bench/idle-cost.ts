import { setTimeout as sleep } from 'node:timers/promises'
import type { DatabaseTarget } from '../src/platform/db.ts'
import { postgresSeconds, processorSeconds, residentMib } from './processes.ts'
import { countTransactions, withDatabase } from './queries.ts'
import { nowMs } from './statistics.ts'
import type { Figure } from './table.ts'

/** Processor seconds a minute, transactions a second, and the memory of the server. */
export type IdleCost = {
  readonly process: number
  readonly postgres: number
  readonly transactions: number
  readonly mib: number
}

export type IdleAsked = {
  readonly folder: string
  readonly server: { readonly pid: number; readonly target: DatabaseTarget }
  /** The time between the start of the server and the measurement. */
  readonly warmMs: number
  readonly ms: number
}

/** The cost of a server to which nothing is sent. */
export async function idleCost({ folder, server, warmMs, ms }: IdleAsked): Promise<IdleCost> {
  await sleep(warmMs)
  return withDatabase(server.target, async (db) => {
    const look = async () => ({
      at: nowMs(),
      process: await processorSeconds([server.pid]),
      postgres: await postgresSeconds(folder),
      transactions: await countTransactions(db),
    })
    const before = await look()
    await sleep(ms)
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

/** The rows of an idle server `with` something, beside one without it, named `name`. */
export function idleFigures(
  what: string,
  { ours, beside, name }: { ours: IdleCost; beside: IdleCost; name: string },
): readonly Figure[] {
  const figure = (title: string, unit: string, of: keyof IdleCost): Figure => ({
    what: title,
    unit,
    ours: ours[of],
    beside: { name, value: beside[of] },
  })
  return [
    figure(`Idle with ${what}, a minute, server`, 's', 'process'),
    figure('the same, PostgreSQL', 's', 'postgres'),
    { ...figure('its transactions', '/s', 'transactions'), aim: { mostRatio: 1.25 } },
    figure('its memory, server', 'MiB', 'mib'),
  ]
}
