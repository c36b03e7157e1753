import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql, type Database } from '../../src/platform/db.ts'
import { aDestination, aName, aWebhook, post } from '../stage/fixtures.ts'
import type { Answer, Sink, World } from '../stage/harness.ts'
import { onWorldStage } from '../stage/world-stage.ts'

const MINUTE_MS = 60_000

let world: World
let database: Database
let sink: Sink

// The test runs the loop of the alerts itself.
onWorldStage(
  async (made) => {
    ;({ world, database, sink } = made)
  },
  { env: { ROLES: 'web,deliver,work' }, loops: [] },
)

type Shown = { id: string; type: string; subject: { id: string }; severity: string; value: number; state: string }

/** A look of the loop, at least a minute after the last one, so that it looks at all types. */
async function look(afterMs = MINUTE_MS): Promise<void> {
  world.clock.advance(afterMs)
  await world.idle()
  await world.run('alerts.watch')
  await world.idle()
}

async function open(subject?: string): Promise<readonly Shown[]> {
  const asked = new URLSearchParams({ state: 'open', ...(subject === undefined ? {} : { subject }) })
  const { status, body } = await world.admin('GET', `alerts?${asked.toString()}`)
  assert.equal(status, 200)
  return body.alerts
}

/** The payloads of the events of Postroad about a subject, oldest first. */
async function told(subject: string): Promise<readonly Answer['body'][]> {
  const { body, status } = await world.admin('GET', 'records?dataset=postroad&limit=100')
  assert.equal(status, 200)
  const found: Answer['body'][] = []
  for (const { id } of body.records) {
    const record = (await world.admin('GET', `records/${id}`)).body.record
    if (record.data.subject.id === subject) found.unshift(record.data)
  }
  return found
}

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
  await look()
  assert.deepEqual(await open(destination.id), [], 'one failure is no alert')
  for (let minute = 0; minute < 40; minute += 1) {
    world.clock.advance(MINUTE_MS)
    await world.idle()
  }
  await look()
  await look()
  const [alert, ...others] = await open(destination.id)
  assert.deepEqual([alert?.type, alert?.severity, others.length], ['destination.failing', 'warning', 0])
  assert.deepEqual(
    (await told(destination.id)).map(({ type, alert: { change } }) => [type, change]),
    [['destination.failing', 'opened']],
  )
  repair()
  const { id } = alert ?? assert.fail()
  for (let n = 0; n < 100 && (await open(destination.id)).length > 0; n += 1) await look(10 * MINUTE_MS)
  assert.equal((await world.admin('GET', `alerts/${id}`)).body.alert.state, 'resolved')
  assert.deepEqual(
    (await told(destination.id)).map(({ type, alert: { change } }) => [type, change]),
    [
      ['destination.failing', 'opened'],
      ['destination.failing', 'escalated'],
      ['destination.recovered', 'resolved'],
    ],
  )
})
