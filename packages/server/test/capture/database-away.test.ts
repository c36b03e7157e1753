import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DbError, sql, type Database } from '../../src/platform/db.ts'
import { aDatabaseRelay, connectionTo, type DatabaseRelay } from '../stage/database-relay.ts'
import { aName, aWebhook, post } from '../stage/fixtures.ts'
import { aWorld, type World } from '../stage/harness.ts'
import { whileTimePasses } from '../stage/meanwhile.ts'
import { onWorldStage } from '../stage/world-stage.ts'

/** Events that come while PostgreSQL restarts wait for it instead of failing. */
let world: World
let database: Database

onWorldStage(
  (made) => {
    ;({ world, database } = made)
  },
  { env: { LOG_LEVEL: 'silent' }, loops: [] },
)

type Place = { readonly node: World; readonly relay: DatabaseRelay; readonly url: string }

/** A node with its own way to the database, and an endpoint that it has read. */
async function behindARelay(work: (place: Place) => Promise<void>): Promise<void> {
  const relay = await aDatabaseRelay(world.storage.target)
  const { role } = world.storage.target
  const target = { url: connectionTo(world.storage.target, relay), ...(role === undefined ? {} : { role }) }
  const node = await aWorld({
    beside: { ...world, storage: { ...world.storage, target } },
    env: { LOG_LEVEL: 'silent' },
  })
  try {
    const url = world.endpoint.replace(world.baseUrl, node.baseUrl)
    assert.equal((await post(url, '{}')).status, 201)
    await work({ node, relay, url })
  } finally {
    await node.stop()
    await relay.stop()
  }
}

const storedAs = async (kind: string): Promise<number> =>
  (
    await database.one<{ stored: number }>(
      sql`select count(*) as stored from submissions where body::jsonb ->> 'kind' = ${kind}`,
    )
  ).stored

test('events that come while PostgreSQL restarts get 201 when it is back, and each is stored once', async () => {
  await behindARelay(async ({ node, relay, url }) => {
    const kind = aName('kind')
    const isBack = relay.restart()
    const sent = Promise.all([1, 2, 3].map((n) => post(url, JSON.stringify({ kind, n }))))
    const waiting = relayTurnsAway(relay, 3).then(isBack)
    const answers = await whileTimePasses([node], Promise.all([sent, waiting]))
    assert.deepEqual(
      answers[0].map(({ status }) => status),
      [201, 201, 201],
    )
    assert.equal(await storedAs(kind), 3)
  })
})

test('an event of an endpoint that the server has not read yet waits too', async () => {
  await behindARelay(async ({ node, relay }) => {
    const kind = aName('kind')
    const { public_url } = await aWebhook(world, { name: aName('w') })
    await node.idle()
    const isBack = relay.restart()
    const sent = post(public_url.replace(world.baseUrl, node.baseUrl), JSON.stringify({ kind }))
    const waiting = relayTurnsAway(relay, 2).then(isBack)
    const [answer] = await whileTimePasses([node], Promise.all([sent, waiting]))
    assert.deepEqual([answer.status, await storedAs(kind)], [201, 1])
  })
})

test('when PostgreSQL is away for more than 10 s, events get 503 and are not stored, later ones at once, and health says it', async () => {
  await behindARelay(async ({ node, relay, url }) => {
    const kind = aName('kind')
    const isBack = relay.restart()
    const late = await whileTimePasses([node], post(url, JSON.stringify({ kind })), 500)
    assert.deepEqual([late.status, late.body.reason, late.body.retry_after], [503, 'storage_unavailable', 1])
    // The clock does not move any more.
    assert.equal((await post(url, JSON.stringify({ kind }))).status, 503)
    assert.equal((await fetch(`${node.baseUrl}/readyz`)).status, 503)
    assert.equal((await fetch(`${node.baseUrl}/healthz`)).status, 200)
    isBack()
    assert.equal((await whileTimePasses([node], untilStored(url, kind))).status, 201)
    assert.equal(await storedAs(kind), 1)
  })
})

test('while PostgreSQL restarts, a patient statement waits and any other fails; a transaction whose work has begun does not run again', async () => {
  await behindARelay(async ({ node, relay }) => {
    const { patient } = node.app.deps.database
    const one = sql`select 1 as n`
    let ran = 0
    const begun = patient.transaction(async (tx) => {
      ran += 1
      await tx.one(one)
      throw new DbError(new Error('Another database is away.'), 'ECONNREFUSED')
    })
    await assert.rejects(begun)
    const isBack = relay.restart()
    const refused = await node.app.deps.database.one(one).catch((error: unknown) => error)
    assert.deepEqual([refused instanceof DbError, ran], [true, 1])
    const waits = [patient.one(one), patient.transaction((tx) => tx.one(one))]
    const before = relay.turnedAway()
    await relayTurnsAway(relay, before + 2)
    isBack()
    assert.deepEqual(await Promise.all(waits), [{ n: 1 }, { n: 1 }])
  })
})

/** The connections of the pool come back one after the other. */
async function untilStored(url: string, kind: string): Promise<Awaited<ReturnType<typeof post>>> {
  for (;;) {
    const answer = await post(url, JSON.stringify({ kind }))
    if (answer.status !== 503) return answer
  }
}

/** Resolves when PostgreSQL has answered this many connections that it does not accept them yet. */
async function relayTurnsAway(relay: DatabaseRelay, count: number): Promise<void> {
  while (relay.turnedAway() < count) await new Promise<void>((resolve) => setImmediate(resolve))
}
