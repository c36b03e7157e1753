import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql, type Database } from '../../src/platform/db.ts'
import { aRoute, type Route } from '../stage/delivery-routes.ts'
import { aWorld, type Sink, type World } from '../stage/harness.ts'
import { onWorldStage } from '../stage/world-stage.ts'

/** Two processes on one PostgreSQL, and eight destinations that always have work. */
const LANES = 8
const ROUND_MS = 2_000

let first: World
let database: Database
let sink: Sink
let routes: readonly Route[]
const nodes: World[] = []
let sent = 0

onWorldStage(
  async (made) => {
    ;({ world: first, database, sink } = made)
    nodes.push(first)
    made.atEnd(async () => {
      for (const node of nodes.slice(1)) await node.stop()
    })
    routes = await Promise.all(Array.from({ length: LANES }, () => aRoute(first, sink.url)))
  },
  { loops: [] },
)

/** The processes share a database, so this waits for all of them. */
const idle = (): Promise<void> => first.idle()

/** The number of lanes of each living owner, the largest first. */
async function holdings(): Promise<readonly number[]> {
  const rows = await database.many<{ held: number }>(sql`
    select count(l.owner)::int as held
      from lane_owners o
      left join lanes l on l.owner = o.owner
     where o.lease_until > ${new Date(first.clock.now())}
     group by o.owner
     order by held desc
  `)
  return rows.map(({ held }) => held)
}

function advance(ms: number): void {
  const to = first.clock.now() + ms
  for (const { clock } of nodes) clock.set(to)
}

/**
 * Sends an event to every destination and moves the clock until all have arrived; returns how many lanes each owner
 * then has.
 */
async function work(): Promise<readonly number[]> {
  await Promise.all(routes.map((route) => route.send()))
  sent += LANES
  await idle()
  for (let steps = 0; sink.received.length < sent && steps < 200; steps += 1) {
    advance(100)
    await idle()
  }
  assert.equal(sink.received.length, sent)
  const held = await holdings()
  advance(200)
  return held
}

/** Works until the owners have these numbers of lanes; returns how many lease rounds that took. */
async function roundsUntil(wanted: readonly number[]): Promise<number> {
  const since = first.clock.now()
  let held: readonly number[] = []
  for (let works = 0; held.join() !== wanted.join() && works < 400; works += 1) held = await work()
  assert.deepEqual(held, wanted)
  return (first.clock.now() - since) / ROUND_MS
}

test('a new process gets four of eight lanes with work within seconds, both processes retain their lanes, and a process that remains alone gets all', async () => {
  assert.ok((await roundsUntil([LANES])) < 3)

  const second = await aWorld({ beside: first, now: first.clock.now() })
  nodes.push(second)
  const rounds = await roundsUntil([4, 4])
  assert.ok(rounds <= 10, `${rounds} rounds`)

  const settledAt = first.clock.now()
  const fences = await eachFence()
  while (first.clock.now() < settledAt + 15_000) assert.deepEqual(await work(), [4, 4])
  assert.deepEqual(await eachFence(), fences)

  nodes.pop()
  await second.stop()
  assert.ok((await roundsUntil([LANES])) < 3)

  const ids = sink.received.map(({ headers }) => headers['service-event-id'])
  assert.equal(new Set(ids).size, ids.length, 'no event came twice')
})

async function eachFence(): Promise<readonly number[]> {
  const rows = await database.many<{ fence: number }>(
    sql`select fence from lanes order by workspace_id, destination_id`,
  )
  return rows.map(({ fence }) => fence)
}
