import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodeId } from '@postroad/contract'
import { sql, type Database } from '../../src/platform/db.ts'
import { AlertStage } from '../stage/alert-stage.ts'
import { aDestination, aName } from '../stage/fixtures.ts'
import type { Sink, World } from '../stage/harness.ts'
import { DATABASE } from '../stage/source-settings.ts'
import { onWorldStage } from '../stage/world-stage.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS

let world: World
let database: Database
let sink: Sink
let stage: AlertStage

onWorldStage(
  async (made) => {
    ;({ world, database, sink } = made)
    stage = new AlertStage(world)
    await database.run(sql`update api_keys set expires_at = null`)
  },
  { env: { ROLES: 'web,deliver,work' }, loops: [] },
)

/** A source, and a function that lets it fail this many times in a row. */
async function aSource() {
  const { source } = await stage.ask('POST', 'sources', { name: aName('s'), dataset: 'rows', settings: DATABASE })
  const id = decodeId('source', source.id) ?? ''
  const fail = (n: number) => database.run(sql`update sources set failures = ${n} where id = ${id}`)
  return { id: source.id as string, fail }
}

const to = (moment: string): void => world.clock.advance(Date.parse(moment) - world.clock.now())
const quiet = (hours: readonly object[]) => stage.ask('PATCH', 'alerts/settings', { quiet_hours: hours })
const NIGHTS = {
  name: 'Nights',
  days: ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'],
  from: '22:00',
  to: '07:00',
  time_zone: 'Europe/Berlin',
}

test('an alert that opens in quiet hours is sent once when they end, also in the night of a change of the clock', async () => {
  await quiet([NIGHTS])
  const { id, fail } = await aSource()
  // On this night, 02:00 in Berlin is 03:00 at once, so 07:00 is 05:00 UTC and not 06:00.
  to('2026-03-29T00:30:00Z')
  await fail(3)
  await stage.look()
  assert.deepEqual([(await stage.open(id))[0]?.held, await stage.changes(id)], [true, []])
  to('2026-03-29T04:58:00Z')
  await stage.look()
  assert.deepEqual(await stage.changes(id), [])
  to('2026-03-29T05:00:00Z')
  await stage.look()
  await stage.look()
  assert.deepEqual([(await stage.open(id))[0]?.held, await stage.changes(id)], [false, ['source.failing opened']])
  await fail(0)
  await stage.look()
  await quiet([])
})

test('an alert that opens and resolves in quiet hours sends nothing, a critical one is sent at once, and a resolution waits', async () => {
  await quiet([NIGHTS])
  const [short, urgent, long] = [await aSource(), await aSource(), await aSource()]
  to('2026-04-01T18:00:00Z')
  await long.fail(3)
  await stage.look()
  to('2026-04-01T23:00:00Z')
  await short.fail(3)
  await urgent.fail(20)
  await stage.look()
  await short.fail(0)
  await long.fail(0)
  await stage.look()
  assert.deepEqual(
    [await stage.changes(short.id), await stage.changes(urgent.id), await stage.changes(long.id)],
    [[], ['source.failing opened'], ['source.failing opened']],
  )
  to('2026-04-02T05:30:00Z')
  await stage.look()
  assert.deepEqual(
    [await stage.changes(short.id), await stage.changes(long.id)],
    [[], ['source.failing opened', 'source.recovered resolved']],
  )
  await urgent.fail(0)
  await stage.look()
  await quiet([])
})

test('a muted alert sends no escalation, is sent again when a snooze ends, and its resolution is sent', async () => {
  const { id, fail } = await aSource()
  await fail(3)
  await stage.look()
  const { id: alert } = (await stage.open(id))[0] ?? assert.fail()
  const until = new Date(world.clock.now() + HOUR_MS).toISOString()
  const muted = await stage.ask('POST', `alerts/${alert}/mute`, { until })
  assert.equal(muted.alert.muted.until, until)
  await fail(20)
  await stage.look()
  assert.deepEqual(await stage.changes(id), ['source.failing opened'])
  await stage.look(HOUR_MS)
  assert.deepEqual(await stage.changes(id), ['source.failing opened', 'source.failing escalated'])
  await stage.ask('POST', `alerts/${alert}/mute`, { until: new Date(world.clock.now() + HOUR_MS).toISOString() })
  await stage.look(2 * HOUR_MS)
  await stage.look()
  assert.equal((await stage.changes(id)).at(-1), 'source.failing reminded')
  const forever = await stage.ask('POST', `alerts/${alert}/mute`, {})
  assert.equal(forever.alert.muted.until, null)
  await stage.look(DAY_MS)
  assert.equal((await stage.changes(id)).length, 3)
  await fail(0)
  await stage.look()
  assert.equal((await stage.changes(id)).at(-1), 'source.recovered resolved')
  const late = await world.admin('POST', `alerts/${alert}/mute`, {})
  assert.deepEqual([late.status, late.body.reason], [409, 'alert_resolved'])
})

test('a channel that fails makes one alert about itself a day, however many events it does not get', async () => {
  const { destination } = await aDestination(world, { url: `${sink.url}channel`, datasets: ['postroad'] })
  const { id, fail } = await aSource()
  let isBroken = true
  sink.answer(() => ({ status: isBroken ? 500 : 200 }))
  await fail(3)
  await stage.look()
  // The receiver flaps: it fails for an hour, and then works for a while.
  for (let hour = 0; hour < 48; hour += 1) {
    isBroken = hour % 2 === 0
    for (let minute = 0; minute < 60; minute += 20) {
      world.clock.advance(20 * MINUTE_MS)
      await world.idle()
      await world.run('rollups.count', 'alerts.watch')
    }
  }
  const about = await stage.events(destination.id)
  const kinds = new Set(about.map(({ alert }) => alert.type))
  assert.ok(about.length <= 3 * 3, `${about.length} events in two days`)
  assert.ok(
    [...kinds].every((kind) => kind === 'destination.failing'),
    [...kinds].join(', '),
  )
  await fail(0)
  await stage.look()
  assert.ok((await stage.changes(id)).length > 0)
})

test('a channel is made with one request: the destination has the template of its preset and only the dataset of Postroad', async () => {
  const refused = await world.admin('POST', 'alerts/channels', { channel: 'pagerduty' })
  assert.equal(refused.status, 400)
  assert.match(refused.body.error, /^secret is missing: Integration key\./)
  const noUrl = await world.admin('POST', 'alerts/channels', { channel: 'slack' })
  assert.match(noUrl.body.error, /^url is missing: such as https:\/\/hooks\.slack\.com/)
  const made = await stage.ask('POST', 'alerts/channels', {
    channel: 'pagerduty',
    secret: 'the key',
    url: `${sink.url}pagerduty`,
  })
  const { destination } = await stage.ask('GET', `destinations/${made.destination.id}`)
  assert.deepEqual([destination.datasets, destination.name], [['postroad'], 'Alerts: PagerDuty'])
  sink.answer(() => ({ status: 200 }))
  const { id, fail } = await aSource()
  await fail(3)
  await stage.look()
  await fail(0)
  await stage.look()
  const alert = (await stage.alerts({ subject: id }))[0] ?? assert.fail()
  const sent = sink.received
    .filter(({ path }) => path === '/pagerduty')
    .map(({ body }) => JSON.parse(body))
    .filter(({ dedup_key }) => dedup_key === alert.id)
  assert.deepEqual(
    sent.map(({ event_action, dedup_key, routing_key, payload }) => [
      event_action,
      dedup_key,
      routing_key,
      payload.severity,
    ]),
    [
      ['trigger', alert.id, 'the key', 'warning'],
      ['resolve', alert.id, 'the key', 'warning'],
    ],
  )
  for (const channel of ['slack', 'discord', 'teams', 'webhook'])
    await stage.ask('POST', 'alerts/channels', { channel, url: `${sink.url}${channel}` })
  await stage.ask('POST', 'alerts/channels', { channel: 'opsgenie', secret: 'k', url: `${sink.url}opsgenie` })
  await stage.ask('POST', 'alerts/channels', {
    channel: 'email',
    url: 'smtps://mail.example.com:465',
    secret: 'p',
    email: { from: 'alerts@example.com', to: ['ops@example.com'], username: 'alerts' },
  })
})
