import assert from 'node:assert/strict'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test, type TestContext } from 'node:test'
import { aDestination, post } from '../stage/fixtures.ts'
import { aSink, type Answer, type World } from '../stage/harness.ts'
import { onWorldStage } from '../stage/world-stage.ts'

/** Manual actions on single deliveries: retry now, cancel, replay. */
let world: World

onWorldStage(
  (made) => {
    ;({ world } = made)
  },
  { loops: [] },
)

type Delivery = Answer['body']

let datasets = 0

/**
 * Sends an event to a separate destination and returns its delivery; `now` reads it again, and `in` reads it when the world is idle.
 */
async function aDelivery(url: string, members: object = {}) {
  datasets += 1
  const dataset = `d${datasets}`
  const { destination } = await aDestination(world, { url, datasets: [dataset], ...members })
  const { body } = await world.admin('GET', 'webhooks')
  const accepted = await post(`${body.webhooks[0].public_url}/${dataset}`, '{"n":1}')
  const { deliveries } = (await world.admin('GET', `deliveries?record_id=${accepted.body.records[0].id}`)).body
  const id: string = deliveries[0].id
  const look = async (): Promise<Delivery> => (await world.admin('GET', `deliveries/${id}`)).body.delivery
  return {
    id,
    destination,
    now: look,
    in: async (state: string): Promise<Delivery> => {
      await world.idle()
      const delivery = await look()
      assert.equal(delivery.state, state)
      return delivery
    },
    ask: (verb: string): Promise<Answer> => world.admin('POST', `deliveries/${id}/${verb}`),
  }
}

/** A receiver that answers when the test lets it. */
async function aReceiver(t: TestContext) {
  const held: ServerResponse[] = []
  const waiting = new Set<() => void>()
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      held.push(response)
      for (const look of waiting) look()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close().closeAllConnections())
  const until = (count: number): Promise<void> =>
    new Promise((resolve) => {
      const look = (): void => void (held.length >= count && resolve())
      waiting.add(look)
      look()
    })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, held, until }
}

const refused = (answer: Answer, words: RegExp): void => {
  assert.deepEqual([answer.status, answer.body.reason], [409, 'invalid_state'])
  assert.match(answer.body.error, words)
}

test('retry now immediately sends a delivery that waits for its next attempt, and the attempt is recorded as manual', async (t) => {
  const sink = await aSink()
  t.after(() => sink.stop())
  sink.answer((_request, index) => ({ status: index === 0 ? 500 : 200 }))
  const delivery = await aDelivery(sink.url)
  const waiting = await delivery.in('retrying')
  assert.ok(Date.parse(waiting.next_attempt_at) > world.clock.now())
  const answer = await delivery.ask('retry')
  assert.deepEqual([answer.status, answer.body.delivery.state], [200, 'retrying'])
  assert.ok(Date.parse(answer.body.delivery.next_attempt_at) <= world.clock.now())
  const { attempts } = await delivery.in('delivered')
  assert.deepEqual(
    attempts.map((one: Delivery) => [one.number, one.trigger, one.outcome]),
    [
      [1, 'initial', 'failed'],
      [2, 'manual', 'succeeded'],
    ],
  )
})

test('a manual retry is an attempt of the schedule and does not lengthen it', async (t) => {
  const sink = await aSink()
  t.after(() => sink.stop())
  sink.answer({ status: 500 })
  const delivery = await aDelivery(sink.url, { retry: { schedule_seconds: [0, 3_600] } })
  await delivery.in('retrying')
  await delivery.ask('retry')
  const failed = await delivery.in('failed')
  assert.equal(failed.attempts.length, 2)
  refused(await delivery.ask('retry'), /replay it/)
})

test('a delivery that is paused, under way or ended cannot be retried, and the answer gives the remedy', async (t) => {
  const receiver = await aReceiver(t)
  const delivery = await aDelivery(receiver.url)
  await receiver.until(1)
  refused(await delivery.ask('retry'), /being sent/)
  receiver.held[0]?.end()
  await delivery.in('delivered')
  refused(await delivery.ask('retry'), /replay it/)
  const off = await aDelivery(receiver.url, { enabled: false })
  refused(await off.ask('retry'), /turn it on/)
})

test('a canceled delivery that waited or was paused is no longer sent; a replay sends it again', async (t) => {
  const sink = await aSink()
  t.after(() => sink.stop())
  sink.answer((_request, index) => ({ status: index === 0 ? 500 : 200 }))
  const delivery = await aDelivery(sink.url)
  await delivery.in('retrying')
  const answer = await delivery.ask('cancel')
  assert.deepEqual(
    [answer.status, answer.body.delivery.state, answer.body.delivery.next_attempt_at],
    [200, 'cancelled', null],
  )
  world.clock.advance(60_000)
  await world.idle()
  refused(await delivery.ask('cancel'), /has ended/)
  assert.equal(sink.received.length, 1)
  await delivery.ask('replay')
  assert.equal((await delivery.in('delivered')).attempts[1].trigger, 'replay')
  const paused = await aDelivery(sink.url, { enabled: false })
  assert.equal((await paused.ask('cancel')).body.delivery.state, 'cancelled')
  await world.admin('PATCH', `destinations/${paused.destination.id}`, { enabled: true })
  assert.equal((await paused.now()).state, 'cancelled', 'a canceled delivery is not resumed')
})

test('the cancellation of a delivery under way ends its attempt as interrupted; the late answer changes nothing', async (t) => {
  const receiver = await aReceiver(t)
  const delivery = await aDelivery(receiver.url, { max_in_flight: 1 })
  await receiver.until(1)
  assert.equal((await delivery.ask('cancel')).body.delivery.state, 'cancelled')
  const { attempts } = await delivery.now()
  assert.deepEqual(
    attempts.map((one: Delivery) => one.outcome),
    ['interrupted'],
  )
  receiver.held[0]?.end()
  // Its slot is free again, and the next delivery of the lane settles after it.
  await delivery.ask('replay')
  await receiver.until(2)
  receiver.held[1]?.end()
  const last = await delivery.in('delivered')
  assert.deepEqual(
    last.attempts.map((one: Delivery) => one.outcome),
    ['interrupted', 'succeeded'],
  )
})

test('each action is audited with the delivery, and a refusal is not', async (t) => {
  const sink = await aSink()
  t.after(() => sink.stop())
  sink.answer({ status: 500 })
  const delivery = await aDelivery(sink.url, { retry: { schedule_seconds: [0, 3_600, 3_600] } })
  await delivery.in('retrying')
  await delivery.ask('retry')
  assert.equal((await delivery.in('retrying')).attempts.length, 2)
  for (const verb of ['cancel', 'cancel', 'replay']) await delivery.ask(verb)
  const { audit } = (await world.admin('GET', `audit?target=${delivery.id}`)).body
  assert.deepEqual(audit.map((row: Delivery) => row.action).toReversed(), [
    'retry_delivery',
    'cancel_delivery',
    'replay_delivery',
  ])
})
