import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql, type Database } from '../../src/platform/db.ts'
import type { Log } from '../../src/platform/log.ts'
import { findStuck } from '../../src/resources/operate/installation/queries.ts'
import { aRoute } from '../stage/delivery-routes.ts'
import { statement } from '../stage/fixtures.ts'
import type { Sink, World } from '../stage/harness.ts'
import { onWorldStage } from '../stage/world-stage.ts'

/** A server whose database refuses each attempt, and the reports that its operator gets. */
type Line = { readonly event: string; readonly fields: Readonly<Record<string, unknown>> }

const lines: Line[] = []
const note = (event: string, fields: Readonly<Record<string, unknown>> = {}): void => void lines.push({ event, fields })
const log: Log = { debug: () => undefined, info: () => undefined, warn: note, error: note }

let world: World
let database: Database
let sink: Sink

onWorldStage(
  async (made) => {
    ;({ world, database, sink } = made)
    await statement(database, 'create sequence refusals')
    await statement(database, 'grant usage on sequence refusals to public')
    // A row turns the fault on and off, because a change of the trigger could deadlock with an attempt.
    await statement(database, 'create table refusing as select false as is_on')
    await statement(database, 'grant select on refusing to public')
    await statement(
      database,
      `create function refuse_attempt() returns trigger language plpgsql as $$ begin
         if not (select is_on from refusing) then return new; end if;
         perform nextval('refusals');
         raise exception 'planted';
       end $$`,
    )
    await statement(
      database,
      'create trigger refuse_attempt before insert on delivery_attempts for each row execute function refuse_attempt()',
    )
  },
  { log, loops: [] },
)

const messageOf = (line: Line | undefined): unknown =>
  line?.fields['cause'] instanceof Error ? line.fields['cause'].message : undefined
const failures = (): readonly Line[] => lines.filter(({ event }) => event === 'delivery.turn_failed')

async function ready(): Promise<{ readonly status: number; readonly body: { reason?: string; error?: string } }> {
  const response = await fetch(`${world.baseUrl}/readyz`)
  return { status: response.status, body: (await response.json()) as { reason?: string; error?: string } }
}

const refuseAttempts = (): Promise<void> => statement(database, 'update refusing set is_on = true')
const takeAttempts = (): Promise<void> => statement(database, 'update refusing set is_on = false')

/** A sequence also counts transactions that roll back. */
async function refusals(): Promise<number> {
  return (await database.one<{ last: number }>(sql`select last_value as last from refusals`)).last
}

/** Moves the clock; in each step the database refuses one more attempt. */
async function whileRefused(ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += 2_000) {
    const seen = await refusals()
    await world.quiet()
    world.clock.advance(2_000)
    await world.quiet()
    assert.ok((await refusals()) > seen)
  }
}

/** Lets the server do the work that it could not do before. */
async function afterABackoff(): Promise<void> {
  for (let steps = 0; steps < 10; steps += 1) {
    await world.quiet()
    world.clock.advance(500)
  }
  await world.quiet()
}

async function stuck() {
  const now = world.clock.now()
  const found = await findStuck(database, { dueBefore: new Date(now - 120_000), now: new Date(now) })
  return { deliveries: found.deliveries, destinations: found.destinations, senders: found.senders }
}

test('the log, /readyz and the metrics report a delivery that the database refuses to start; it is sent when the database accepts it', async () => {
  const route = await aRoute(world, sink.url)
  await refuseAttempts()
  const since = world.clock.now()
  await route.send('{}')

  await world.quiet()
  assert.equal(messageOf(failures()[0]), 'planted')
  assert.equal((await ready()).status, 200)

  await whileRefused(62_000)
  assert.equal(failures().length, 2)
  assert.ok(Number(failures()[1]?.fields['times']) >= 29, `${String(failures()[1]?.fields['times'])} in a minute`)
  assert.equal(messageOf(failures()[1]), 'planted')

  const { status, body } = await ready()
  assert.equal(status, 503)
  assert.equal(body.reason, 'overloaded')
  const iso = new Date(since).toISOString().slice(0, 16)
  assert.match(body.error ?? '', new RegExp(`completed no turn since ${iso}.*"delivery\\.turn_failed"`))
  const metrics = await (await fetch(`${world.baseUrl}/metrics`)).text()
  assert.ok(Number(/^postroad_delivery_stalled_seconds (\d+)$/m.exec(metrics)?.[1]) >= 20, metrics)

  await takeAttempts()
  await afterABackoff()
  assert.equal((await ready()).status, 200)
  assert.equal(sink.received.length, 1)
  assert.ok(failures().length <= 3, `${failures().length} lines`)
})

test('the doctor looks for due deliveries that no process starts, and reports their number, their place and their age', async () => {
  const route = await aRoute(world, sink.url)
  await refuseAttempts()
  const dueAt = world.clock.now()
  await route.send('{}')
  await route.send('{}')
  assert.deepEqual(await stuck(), { deliveries: 0, destinations: 0, senders: 1 })
  await whileRefused(126_000)
  assert.deepEqual(await stuck(), { deliveries: 2, destinations: 1, senders: 1 })
  const now = new Date(world.clock.now())
  const { oldest_due_at } = await findStuck(database, { dueBefore: new Date(now.getTime() - 120_000), now })
  assert.equal(oldest_due_at?.getTime(), dueAt)
  await takeAttempts()
  await afterABackoff()
  assert.equal(sink.received.length, 3)
})

test('a delivery that waits for an open breaker, behind an earlier one with its key, or for a disabled destination is not stuck', async () => {
  const route = await aRoute(world, sink.url)
  await route.send('{}')
  await afterABackoff()
  assert.equal(sink.received.length, 4)
  await refuseAttempts()
  await route.send('{}')
  await whileRefused(126_000)
  assert.equal((await stuck()).deliveries, 1)
  const waits = new Date(world.clock.now() + 60_000).toISOString()
  await statement(database, `update lanes set waits_until = '${waits}'`)
  assert.equal((await stuck()).deliveries, 0)
  await statement(database, `update lanes set waits_until = null`)
  assert.equal((await stuck()).deliveries, 1)
  await statement(database, `update deliveries set order_key = id, order_seq = 2 where next_attempt_at is not null`)
  assert.equal((await stuck()).deliveries, 1)
  await statement(
    database,
    `update deliveries earlier set state = 'paused', pause_reason = 'allowance_used', order_key = d.id, order_seq = 1
       from deliveries d where d.next_attempt_at is not null and earlier.destination_id = d.destination_id and earlier.id <> d.id`,
  )
  assert.equal((await stuck()).deliveries, 0)
  await statement(database, 'update deliveries set order_key = null where next_attempt_at is not null')
  assert.equal((await stuck()).deliveries, 1)
  await statement(database, 'update destinations set enabled = false')
  assert.equal((await stuck()).deliveries, 0)
  await takeAttempts()
})
