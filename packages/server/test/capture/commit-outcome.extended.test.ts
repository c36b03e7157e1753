import assert from 'node:assert/strict'
import { decodeId } from '@postroad/contract'
import { test } from 'node:test'
import { createCommit } from '../../src/pipeline/store/commit.ts'
import { DbError, sql, type Database } from '../../src/platform/db.ts'
import { aName, aWebhook, post } from '../stage/fixtures.ts'
import { aWorld, type Answer, type World } from '../stage/harness.ts'
import { whileTimePasses } from '../stage/meanwhile.ts'
import { onWorldStage } from '../stage/world-stage.ts'

/** The answer that a sender gets when the commit of its event has no answer, or comes too late. */
let world: World
let database: Database

onWorldStage(
  (made) => {
    ;({ world, database } = made)
  },
  { env: { LOG_LEVEL: 'silent' }, loops: [] },
)

type Endpoint = {
  readonly send: (headers?: Record<string, string>) => Promise<Answer>
  readonly stored: () => Promise<number>
}

/**
 * An endpoint at another node whose group commit uses this database. Its dataset exists already, because the first
 * event of a dataset takes another path.
 */
async function whereDatabaseIs(
  faulty: (database: Database) => Database,
  work: (endpoint: Endpoint) => Promise<void>,
): Promise<void> {
  const { id, public_url } = await aWebhook(world, { name: aName('w') })
  await post(public_url, '{}')
  const node = await aWorld({
    beside: world,
    env: { LOG_LEVEL: 'silent' },
    commit: (_commit, deps) => createCommit({ ...deps, database: faulty(deps.database) }),
  })
  const url = public_url.replace(world.baseUrl, node.baseUrl)
  const send = (headers: Record<string, string> = {}): Promise<Answer> =>
    whileTimePasses([node], post(url, '{}', { headers }))
  const stored = async (): Promise<number> =>
    (
      await database.one<{ stored: number }>(
        sql`select count(*) - 1 as stored from submissions where webhook_id = ${decodeId('webhook', id) ?? ''}`,
      )
    ).stored
  try {
    await work({ send, stored })
  } finally {
    await node.stop()
  }
}

const HOUR_MS = 3_600_000
const KEY = { 'idempotency-key': 'k' }

test('when the connection breaks during the commit, a stored event gets 201, and a repeat gets the first answer', async () => {
  // For each statement of the group commit, in order: whether its answer is lost.
  const losses: boolean[] = []
  const orLost = async <T>(done: Promise<T>): Promise<T> => {
    const answer = await done
    if (losses.shift() === true) throw new DbError(new Error('The connection broke.'), 'ECONNRESET')
    return answer
  }
  await whereDatabaseIs(
    (real) => ({ ...real, many: (query) => orLost(real.many(query)), run: (query) => orLost(real.run(query)) }),
    async ({ send, stored }) => {
      const sent = (lost: readonly boolean[], headers?: Record<string, string>): Promise<Answer> => {
        losses.push(...lost)
        return send(headers)
      }
      const [commit, look] = [true, true]
      assert.equal((await sent([commit, look])).status, 201)
      const first = await sent([commit, look], KEY)
      assert.equal(first.status, 201)
      assert.equal(await stored(), 2)
      const repeat = await sent([commit], KEY)
      assert.deepEqual([repeat.status, repeat.body.id], [200, first.body.id])
      const keysNotRead = [false, true]
      const again = await sent(keysNotRead, KEY)
      assert.deepEqual([again.status, again.body.id], [200, first.body.id])
      assert.deepEqual([losses, await stored()], [[], 2])
    },
  )
})

test('an event whose commit had no answer is stored once when PostgreSQL has started again without it', async () => {
  let [isLost, isRestarted] = [false, false]
  const restarting = (real: Database): Database => ({
    ...real,
    many: async (query) => {
      if (!isLost) return real.many(query)
      ;[isLost, isRestarted] = [false, true]
      throw new DbError(new Error('The connection broke.'), 'ECONNRESET')
    },
    one: async <Row extends object>(query: Parameters<Database['one']>[0]) => {
      const said = await real.one<Row>(query)
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as below
      return 'startedAt' in said && isRestarted ? ({ ...said, startedAt: Number(said.startedAt) + 1 } as Row) : said
    },
  })
  await whereDatabaseIs(restarting, async ({ send, stored }) => {
    assert.equal((await send()).status, 201)
    isLost = true
    assert.deepEqual([(await send()).status, isRestarted, await stored()], [201, true, 2])
  })
})

test('a statement that starts after its deadline stores nothing: its events get 503, and once the database is fast again a retry stores them once', async () => {
  // How far the clock of PostgreSQL seems to lag, for each time that the server asks for it.
  const behind: number[] = []
  const lying = (real: Database): Database => ({
    ...real,
    one: async <Row extends object>(query: Parameters<Database['one']>[0]) => {
      const said = await real.one<Row>(query)
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the group commit asks for one row only, the time
      return 'now' in said ? ({ ...said, now: Number(said.now) - (behind.shift() ?? 0) } as Row) : said
    },
  })
  await whereDatabaseIs(lying, async ({ send, stored }) => {
    behind.push(HOUR_MS, HOUR_MS)
    const late = await send()
    assert.deepEqual([late.status, late.body.reason, await stored()], [503, 'storage_unavailable', 0])
    behind.push(HOUR_MS)
    assert.deepEqual([(await send()).status, behind, await stored()], [201, [], 1])
  })
  await whereDatabaseIs(lying, async ({ send, stored }) => {
    // The server retries an event with a key for as long as its sender would wait for an equal one.
    behind.push(HOUR_MS, HOUR_MS, HOUR_MS)
    assert.deepEqual([(await send(KEY)).status, behind, await stored()], [201, [], 1])
    assert.deepEqual([(await send(KEY)).status, await stored()], [200, 1])
  })
})
