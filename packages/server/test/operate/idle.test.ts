import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { createRest } from '../../src/app/idle.ts'
import { sql, type Database } from '../../src/platform/db.ts'
import { createLeaseLoop } from '../../src/platform/lease-loop.ts'
import { EVERY_LEASE } from '../../src/platform/leases.ts'
import { aDestination, aWebhook, post } from '../stage/fixtures.ts'
import { aWorld, type Sink, type World } from '../stage/harness.ts'
import { instancesOf, payloadsOf, storeEvent, storeWorkflow } from '../stage/workflow-stage.ts'
import { onWorldStage } from '../stage/world-stage.ts'

let sink: Sink
let world: World
let beside: World
let database: Database

onWorldStage(
  async (made) => {
    ;({ world, sink, database } = made)
    beside = await aWorld({ beside: world, env: { ROLES: 'web' }, loops: [] })
    made.atEnd(() => beside.stop())
  },
  { loops: ['workflows.run'] },
)

const emit = (dataset: string) => ({ id: 'emit', type: 'emit_event', dataset, data: { from: 'a step' } })

const none = (): number => 0

test('a loop that nobody named does not run with the clock; `run` does its work', async () => {
  const webhook = await aWebhook(world, { verification: { scheme: 'code_host', secret: 's' } })
  assert.equal((await post(webhook.public_url, '{}')).status, 401)
  const counted = async (): Promise<number> =>
    (await world.admin('GET', `rejections?webhook_id=${webhook.id}`)).body.rejections.length
  world.clock.advance(3_600_000)
  await world.idle()
  assert.equal(await counted(), 0)
  await world.run('rejections.flush')
  assert.equal(await counted(), 1)
})

test('`run` rejects for a loop of another role', async () => {
  await assert.rejects(beside.run('mail.send'), /does not run the loop mail\.send/)
})

test('once the world is idle, every delivery that was due has ended', async () => {
  const { public_url, dataset } = await aWebhook(world, { dataset: 'delivered' })
  const { destination } = await aDestination(world, { url: sink.url, datasets: [dataset] })
  await Promise.all(Array.from({ length: 30 }, () => post(public_url, '{}')))
  await world.idle()
  const { body } = await world.admin('GET', `deliveries?destination_id=${destination.id}&state=delivered&limit=100`)
  assert.deepEqual([body.deliveries.length, sink.received.length], [30, 30])
})

test('the world is not idle while a receiver has not answered', async () => {
  const arrived = Promise.withResolvers<ServerResponse>()
  const receiver = createServer((_request, response) => arrived.resolve(response)).listen(0, '127.0.0.1')
  await once(receiver, 'listening')
  const { port } = receiver.address() as AddressInfo
  const { public_url, dataset } = await aWebhook(world, { dataset: 'held' })
  await aDestination(world, { url: `http://127.0.0.1:${port}`, datasets: [dataset] })
  await post(public_url, '{}')
  let isIdle = false
  const idle = world.idle().then(() => {
    isIdle = true
  })
  const response = await arrived.promise
  // Longer than the world needs to find that it is idle.
  for (let statements = 0; statements < 100; statements += 1) await database.one(sql`select 1 as one`)
  assert.equal(isIdle, false)
  response.end()
  await idle
  receiver.close()
})

test('once the world is idle, every other process has heard of a change', async () => {
  const { id, public_url } = await aWebhook(world)
  const elsewhere = public_url.replace(world.baseUrl, beside.baseUrl)
  for (const enabled of [false, true, false, true]) {
    assert.notEqual((await post(elsewhere, '{}')).status, enabled ? 201 : 503)
    await world.admin('PATCH', `webhooks/${id}`, { enabled })
    await world.idle()
    assert.equal((await post(elsewhere, '{}')).status, enabled ? 201 : 503)
  }
})

test('a process that has caught up has heard everything that was sent before', async () => {
  const { wakeups } = beside.app.deps
  const heard: string[] = []
  await wakeups.hear('test_channel', (payload) => heard.push(payload))
  await database.run(sql`select pg_notify('test_channel', n::text) from generate_series(1, 1000) as n`)
  await wakeups.caughtUp()
  assert.equal(heard.length, 1_000)
})

test('once the world is idle, every instance that was due has run, and what follows from that', async () => {
  const workflows = [
    await storeWorkflow(world, { dataset: 'chain_0', steps: [emit('chain_1')] }),
    await storeWorkflow(world, { dataset: 'chain_1', steps: [emit('chain_2')] }),
  ]
  await storeEvent(world, { dataset: 'chain_0', data: {} })
  await world.idle()
  for (const workflow of workflows)
    assert.deepEqual(
      (await instancesOf(world, workflow)).map(({ state }) => state),
      ['completed'],
    )
  assert.deepEqual(await payloadsOf(world, 'chain_2'), [{ from: 'a step' }])
})

test('the process looks again when a loop has made work for one before it', async () => {
  const { deps } = world.app
  let due = [0, 3]
  const [first, second] = [0, 1].map((place) =>
    createLeaseLoop(
      { ...deps, leases: EVERY_LEASE },
      {
        name: `test.${place}`,
        everyMs: 1_000,
        role: 'work',
        scope: 'process',
        // Each row of the second loop is a row of the first one afterward.
        work: () => {
          const [mine = 0, other = 0] = [due[place], due[1 - place]]
          due = place === 0 ? [0, other] : [other + Math.min(mine, 1), Math.max(0, mine - 1)]
          return Promise.resolve({ rows: Math.min(mine, 1) })
        },
      },
    ),
  )
  assert.ok(first !== undefined && second !== undefined)
  const loops = [first, second]
  await createRest({
    deps,
    loops,
    started: loops,
    unanswered: none,
    attempts: none,
    isEngineAtRest: () => true,
  }).whenIdle()
  assert.deepEqual(due, [0, 0])
})
