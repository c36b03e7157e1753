import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql, type Database } from '../../src/platform/db.ts'
import { registered, EASY } from '../stage/agent-registrations.ts'
import { aDestination, anIngestKey, behind, post, signedIn, statement } from '../stage/fixtures.ts'
import { aWorld, type Answer, type World } from '../stage/harness.ts'
import { ask, theWorkspace } from '../stage/people.ts'

/** The health of the installation, as operators read it. The owner is the operator: the installation has one. */
let world: World
let database: Database

before(async () => {
  world = await aWorld({ env: { ...EASY, LOG_LEVEL: 'silent' }, loops: 'all' })
  database = behind(world)
})
after(async () => {
  await database.close()
  await world.stop()
})

async function health(at = world): Promise<Answer['body']> {
  const headers = await signedIn(at, await theWorkspace(database))
  return (await ask(at, 'GET platform/health', { headers })).body.health
}

test('a healthy server reports ok, its loops, its senders and the response time of the database', async () => {
  await world.idle()
  const seen = await health()
  assert.ok(seen.loops.length > 8)
  assert.deepEqual([seen.senders, seen.ok, seen.problems], [1, true, []])
  assert.deepEqual(
    seen.loops.filter(
      (loop: { failing: boolean; last_run_at: string | null }) => loop.failing || loop.last_run_at === null,
    ),
    [],
  )
  assert.ok(seen.loops.some(({ name }: { name: string }) => name === 'mail.send'))
  assert.ok(Number.isInteger(seen.database.answered_in_ms) && seen.database.answered_in_ms < 5_000)
})

test('health names a loop that fails and its log line, until the loop works again', async () => {
  await statement(database, 'alter table replays rename to replays_gone')
  try {
    await world.idle()
    const failing = await health()
    assert.equal(failing.ok, false)
    assert.ok(
      failing.problems.includes(
        'The background loop replays.advance fails. Look for "replays.advance_failed" in the log of this process.',
      ),
      failing.problems.join(),
    )
    const loop = failing.loops.find(({ name }: { name: string }) => name === 'replays.advance')
    assert.deepEqual([loop.failing, typeof loop.last_failed_at], [true, 'string'])
  } finally {
    await statement(database, 'alter table replays_gone rename to replays')
  }
  await world.idle()
  assert.equal((await health()).ok, true)
})

test('without a process that delivers, health counts the overdue deliveries and reports since when the oldest is due', async (t) => {
  const { key } = await anIngestKey(world)
  await aDestination(world, { url: 'http://127.0.0.1:9/', datasets: ['due'] })
  const web = await aWorld({ beside: world, env: { ROLES: 'web', LOG_LEVEL: 'silent' }, now: world.clock.now() })
  t.after(() => web.stop())
  await post(`${world.baseUrl}/v1/ingest/${key}/due`, '{}')
  await world.quiet()
  assert.ok((await world.admin('GET', 'deliveries?state=retrying')).body.deliveries.length > 0)
  const due = new Date(web.clock.now() - 600_000)
  await database.run(sql`delete from destination_rollups`)
  await database.run(sql`update lanes set waits_until = null`)
  await database.run(sql`update deliveries set next_attempt_at = ${due} where next_attempt_at is not null`)
  await database.run(sql`update lane_owners set lease_until = ${due}`)
  const found = await health(web)
  assert.deepEqual(
    [found.ok, found.senders, found.deliveries],
    [false, 0, { overdue: 1, oldest_due_at: due.toISOString() }],
  )
  assert.match(found.problems.join('\n'), /No process with the role "deliver" is running[^]*Deliveries are due/)
  await database.run(sql`update workspaces set suspended_at = now()`)
  assert.equal((await health(web)).deliveries.overdue, 0, 'what is held back is not overdue')
  await database.run(sql`update workspaces set suspended_at = null`)
})

test('the used part of the cap of agent registrations is shown, and whether agents may register', async () => {
  const operator = await signedIn(world, await theWorkspace(database))
  const set = async (body: object): Promise<void> => {
    assert.equal((await ask(world, 'PATCH platform/settings', { headers: operator, body })).status, 200)
  }
  await set({ agent_registrations_per_day: 16 })
  assert.deepEqual((await health()).agent_registrations, { open: true, today: 0, cap: 16, share: 0 })
  await registered(world)
  assert.deepEqual((await health()).agent_registrations, { open: true, today: 1, cap: 16, share: 0.0625 })
  await set({ agent_registration: false })
  assert.equal((await health()).agent_registrations.open, false)
  await set({ agent_registration: true, agent_registrations_per_day: 100 })
})
