import { createHash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { aDatabaseRelay, connectionTo } from '../../test/stage/database-relay.ts'
import { aLogicalPostgres } from '../../test/stage/logical-postgres.ts'
import type { Sent } from '../load.ts'
import { postgresProcess } from '../postgres-process.ts'
import { addItems, finishItem, listItems, makeItems, type ChangeRow, type ItemRow } from './queries.ts'

/** A foreign database: a table that grows, and some of its rows change once. */
export type ForeignDatabase = {
  readonly connection: string
  /** Kills the database, which comes back by itself. */
  kill(): void
  /** Ends the changes, and returns what must be filed: every row as it is polled, and every change as it is replicated. */
  end(): Promise<{ readonly rows: readonly Sent[]; readonly changes: readonly ChangeRow[] }>
  stop(): Promise<void>
}

/** The datasets of the two sources. */
export const ROWS = 'rows'
export const CHANGES = 'changes'

const PAUSE_MS = 100
const AGAIN_MS = 200
/** One transaction in this many is large: it is stored in several batches. */
const LARGE_EVERY = 150
const LARGE_ROWS = 2_500
const UPDATED_EVERY = 3

/** Adds rows from `begin` on. A statement that failed is repeated with the same rows, so the table is the truth. */
export async function openForeignDatabase(): Promise<ForeignDatabase & { begin(): void }> {
  const postgres = await aLogicalPostgres()
  const relay = await aDatabaseRelay(postgres.target)
  const processes = postgresProcess(postgres.folder)
  const { database } = postgres
  await makeItems(database)
  const ends = new AbortController()
  let running: Promise<void> = Promise.resolve()

  const add = async (): Promise<void> => {
    let last = 0
    for (let turn = 1; !ends.signal.aborted; turn += 1) {
      const from = last + 1
      last += turn % LARGE_EVERY === 0 ? LARGE_ROWS : 2
      const to = last
      // oxlint-disable-next-line no-await-in-loop -- one transaction after the other
      await insist(() => addItems(database, { dataset: ROWS, from, to }))
      if (turn % UPDATED_EVERY === 0)
        // oxlint-disable-next-line no-await-in-loop -- as above
        await insist(() => finishItem(database, from))
      // oxlint-disable-next-line no-await-in-loop -- as above
      await sleep(PAUSE_MS)
    }
  }

  return {
    connection: connectionTo(postgres.target, relay),
    begin: () => {
      running = add()
    },
    kill: () => void processes.killPostmaster(),
    end: async () => {
      ends.abort()
      await running
      let found: readonly ItemRow[] = []
      await insist(async () => {
        found = await listItems(database)
      })
      return {
        rows: found.map(({ n }) => sent(n)),
        changes: found.flatMap(({ n, done }) => [
          { operation: 'insert', n },
          ...(done ? [{ operation: 'update', n }] : []),
        ]),
      }
    },
    stop: async () => {
      ends.abort()
      await running
      await relay.stop()
      await postgres.stop()
    },
  }
}

/** A row as PostgreSQL writes it for the query of the source. */
function sent(n: number): Sent {
  const event = `${ROWS}-${n}`
  const sha256 = createHash('sha256').update(`{"n":${n},"event":"${event}"}`).digest('hex')
  return { event, dataset: ROWS, sha256, at: n }
}

/** Repeats a statement until the database has answered it. */
async function insist(work: () => Promise<unknown>): Promise<void> {
  for (;;) {
    try {
      // oxlint-disable-next-line no-await-in-loop -- until it is done
      await work()
      return
    } catch {
      // oxlint-disable-next-line no-await-in-loop -- as above
      await sleep(AGAIN_MS)
    }
  }
}
