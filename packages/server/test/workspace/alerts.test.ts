import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AlertStage } from '../stage/alert-stage.ts'
import { aDestination, aName, aWebhook, post } from '../stage/fixtures.ts'
import type { Sink, World } from '../stage/harness.ts'
import { onWorldStage } from '../stage/world-stage.ts'

const MINUTE_MS = 60_000

let world: World
let sink: Sink
let stage: AlertStage

// The test runs the loop of the alerts itself.
onWorldStage(
  async (made) => {
    ;({ world, sink } = made)
    stage = new AlertStage(world)
  },
  { env: { ROLES: 'web,deliver,work' }, loops: [] },
)

/** A destination that answers 500 until it is repaired. */
async function aFailingDestination(members: object = {}) {
  const path = aName('failing').replaceAll(' ', '-')
  let isBroken = true
  sink.answer((request) => ({ status: request.path === `/${path}` && isBroken ? 500 : 200 }))
  const dataset = path.replaceAll(/[^a-z0-9]+/gi, '_')
  const webhook = await aWebhook(world, { dataset })
  const { destination } = await aDestination(world, { url: `${sink.url}${path}`, datasets: [dataset], ...members })
  return {
    destination,
    send: () => post(webhook.public_url, '{}'),
    repair: () => void (isBroken = false),
  }
}

test('a destination that fails for longer than its threshold opens one alert, which resolves when an attempt succeeds', async () => {
  const { destination, send, repair } = await aFailingDestination()
  await send()
  await world.idle()
  await stage.look()
  assert.deepEqual(await stage.open(destination.id), [], 'one failure is no alert')
  for (let minute = 0; minute < 40; minute += 1) {
    world.clock.advance(MINUTE_MS)
    await world.idle()
  }
  await stage.look()
  await stage.look()
  const [alert, ...others] = await stage.open(destination.id)
  assert.deepEqual([alert?.type, alert?.severity, others.length], ['destination.failing', 'warning', 0])
  assert.deepEqual(await stage.changes(destination.id), ['destination.failing opened'])
  repair()
  const { id } = alert ?? assert.fail()
  for (let n = 0; n < 100 && (await stage.open(destination.id)).length > 0; n += 1) await stage.look(10 * MINUTE_MS)
  assert.equal((await world.admin('GET', `alerts/${id}`)).body.alert.state, 'resolved')
  const changes = await stage.changes(destination.id)
  assert.deepEqual(
    // It escalates if the next attempt comes after an hour, which a random part of the schedule decides.
    changes.filter((change) => !change.endsWith('escalated')),
    ['destination.failing opened', 'destination.recovered resolved'],
  )
})

test('an event of Postroad reaches only destinations that name its dataset, and has the alert as its origin', async () => {
  const all = await aDestination(world, { url: `${sink.url}all` })
  const named = await aDestination(world, { url: `${sink.url}named`, datasets: ['postroad'] })
  const { destination, send } = await aFailingDestination()
  await send()
  for (let minute = 0; minute < 40; minute += 1) {
    world.clock.advance(MINUTE_MS)
    await world.idle()
  }
  await stage.look()
  const [alert] = await stage.open(destination.id)
  const { events } = await stage.ask('GET', `alerts/${alert?.id}`)
  const { record } = await stage.ask('GET', `records/${events[0].event_id}`)
  const { deliveries } = await stage.ask('GET', `deliveries?record_id=${events[0].event_id}`)
  const reached = deliveries.map((one: { destination_id: string }) => one.destination_id)
  assert.deepEqual([reached.includes(named.destination.id), reached.includes(all.destination.id)], [true, false])
  const { submission } = await stage.ask('GET', `submissions/${record.submission_id}`)
  assert.deepEqual(submission.origin, { kind: 'alert', id: alert?.id })
})

test('nothing but Postroad files events into its dataset: requests and settings that name it are refused', async () => {
  const byUrl = await post(`${world.endpoint}/postroad`, '{}')
  assert.equal(byUrl.status, 400)
  assert.match(byUrl.body.error, /only Postroad files events there/)
  const settings: readonly (readonly [string, object])[] = [
    ['webhooks', { name: aName('w'), dataset: 'postroad' }],
    ['rules', { name: aName('r'), dataset: 'postroad' }],
    ['datasets', { name: 'postroad' }],
    ['cron-triggers', { name: aName('c'), expression: '0 9 * * *', dataset: 'postroad' }],
    ['ingest-keys', { name: aName('k'), datasets: ['postroad'] }],
    [
      'workflows',
      {
        name: aName('w'),
        entry_dataset: 'orders',
        steps: [{ id: 'emit', type: 'emit_event', dataset: 'postroad' }],
      },
    ],
  ]
  for (const [path, body] of settings) {
    const answer = await world.admin('POST', path, body)
    assert.equal(answer.status, 400, path)
    assert.match(answer.body.error, /only Postroad files events there/, path)
  }
  const { public_url, dataset } = await aWebhook(world, { slug: 'postroad' })
  assert.equal(dataset, 'postroad_events')
  assert.equal((await post(public_url, '{}')).status, 201)
})
