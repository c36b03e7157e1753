import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql, type Database } from '../../src/platform/db.ts'
import { rollUp } from '../../src/resources/workspace/rollups/roll-up.ts'
import { aDestination, aWebhook, post } from '../stage/fixtures.ts'
import type { Answer, Sink, World } from '../stage/harness.ts'
import { onWorldStage } from '../stage/world-stage.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 3_600_000

let world: World
let database: Database
let sink: Sink

// The rollups count only when the test starts them.
onWorldStage(
  async (made) => {
    ;({ world, database, sink } = made)
  },
  { env: { ROLES: 'web,deliver' }, loops: [] },
)

const asked = (query: Record<string, string> = {}): string =>
  Object.keys(query).length === 0 ? '' : `?${new URLSearchParams(query).toString()}`
const summary = async (query?: Record<string, string>): Promise<Answer['body']> =>
  (await world.admin('GET', `dashboard/summary${asked(query)}`)).body.summary
const series = async (query?: Record<string, string>): Promise<Answer['body']> =>
  (await world.admin('GET', `dashboard/timeseries${asked(query)}`)).body.timeseries
const iso = (ms: number): string => new Date(ms).toISOString()

async function ended(count: number): Promise<void> {
  await world.idle()
  assert.equal((await database.many(sql`select 1 from delivery_attempts where outcome is not null`)).length, count)
}

async function refused(count: number): Promise<void> {
  await world.run('rejections.flush')
  const { sum } = await database.one<{ sum: number }>(sql`select coalesce(sum(count), 0)::int as sum from rejections`)
  assert.equal(sum, count)
}

test('a workspace without any event answers zeros, without quantiles', async () => {
  const {
    totals,
    previous,
    delivery_ms,
    response_ms,
    backlog,
    failing_destinations,
    rejections,
    usage,
    counted_at,
    closed_until,
  } = await summary()
  const zeros = {
    submissions: 0,
    records: 0,
    bytes: 0,
    rejected: 0,
    delivered: 0,
    failed: 0,
    gave_up: 0,
    interrupted: 0,
    open: 0,
  }
  assert.deepEqual([totals, previous], [zeros, zeros])
  assert.deepEqual(
    [delivery_ms, response_ms, failing_destinations, rejections, counted_at, closed_until],
    [null, null, [], [], null, null],
  )
  assert.deepEqual(backlog, { pending: 0, retrying: 0, paused: 0, held: 0, oldest_accepted_at: null })
  const { since, ...counts } = usage
  assert.deepEqual(counts, { month: '2026-01', events: 0, max_events: null, deliveries: null, max_deliveries: null })
  // The workspace was made in this month.
  assert.equal(since, (await world.admin('GET', 'workspace')).body.workspace.created_at)
  assert.ok((await series()).points.every((point: { submissions: number }) => point.submissions === 0))
})

test('the summary reports accepted, refused, delivered, failed and waiting events, and where deliveries fail', async () => {
  world.clock.advance(MINUTE_MS - (world.clock.now() % MINUTE_MS))
  const begin = world.clock.now()
  sink.answer((request) => ({ status: request.path === '/bad' ? 500 : 200 }))
  await aDestination(world, { url: sink.url, datasets: ['good'] })
  const { destination: failing } = await aDestination(world, {
    url: `${sink.url}bad`,
    datasets: ['bad'],
    retry: { schedule_seconds: [0, 3_600] },
  })
  const { destination: gone } = await aDestination(world, {
    url: `${sink.url}bad`,
    datasets: ['gone'],
    retry: { schedule_seconds: [0] },
  })
  const [good, bad, lost] = await Promise.all(['good', 'bad', 'gone'].map((dataset) => aWebhook(world, { dataset })))
  const refusing = await aWebhook(world, { enabled: false })
  for (const url of [good, good, good, bad, bad, lost].map((webhook) => webhook.public_url))
    assert.equal((await post(url, '{"a":1}')).status, 201)
  assert.equal((await post(refusing.public_url, '{}')).status, 503)
  await ended(6)
  await refused(1)
  await world.admin('DELETE', `destinations/${gone.id}`)
  world.clock.advance(Math.max(0, begin + 10 * MINUTE_MS - world.clock.now()))
  await rollUp(world.app.deps)
  const reported = await summary({ from: iso(begin), to: iso(begin + 5 * MINUTE_MS) })
  assert.deepEqual(reported.totals, {
    submissions: 6,
    records: 6,
    bytes: 42,
    rejected: 1,
    delivered: 3,
    failed: 3,
    gave_up: 1,
    interrupted: 0,
    open: 0,
  })
  assert.deepEqual(reported.backlog, { pending: 0, retrying: 2, paused: 0, held: 0, oldest_accepted_at: iso(begin) })
  const [worst, ...others] = reported.failing_destinations
  assert.deepEqual(worst, {
    destination_id: failing.id,
    project_id: world.installed.project.id,
    name: failing.name,
    enabled: true,
    disabled_reason: null,
    breaker: worst.breaker,
    delivered: 0,
    failed: 2,
    response_ms: worst.response_ms,
  })
  assert.equal(worst.breaker.state, 'closed')
  assert.deepEqual(others, [], 'a deleted destination is left out')
  assert.deepEqual(reported.rejections, [{ reason: 'endpoint_disabled', count: 1, last_at: iso(begin) }])
  assert.equal(reported.usage.events, 6)
  assert.deepEqual(Object.keys(reported.delivery_ms), ['p50', 'p95'])
  const later = await summary({ from: iso(begin + 5 * MINUTE_MS), to: iso(begin + 10 * MINUTE_MS) })
  assert.deepEqual(
    [later.totals.submissions, later.previous],
    [0, reported.totals],
    'the previous range is reported too',
  )
  assert.deepEqual([reported.from, reported.to], [iso(begin), iso(begin + 5 * MINUTE_MS)])
})

test('a time series has a bucket for every moment of its range, zeros included, and adds up to the summary', async () => {
  const now = world.clock.now()
  for (const [hours, seconds] of [
    [1, 60],
    [6, 300],
    [24, 900],
    [72, 3_600],
    [168, 21_600],
    [24 * 90, 86_400],
  ] as const) {
    const query = { from: iso(now - hours * HOUR_MS), to: iso(now) }
    const { bucket_seconds, points, from, to } = await series(query)
    assert.equal(bucket_seconds, seconds)
    assert.deepEqual(
      points.map((point: { at: string }) => Date.parse(point.at)),
      points.map((_point: unknown, index: number) => Date.parse(from) + index * seconds * 1_000),
    )
    assert.equal(Date.parse(to), Date.parse(points.at(-1).at) + seconds * 1_000)
    const { totals } = await summary({ from, to })
    for (const name of ['submissions', 'records', 'rejected', 'delivered', 'failed', 'gave_up']) {
      assert.equal(
        points.reduce((sum: number, point: Record<string, number>) => sum + (point[name] ?? 0), 0),
        totals[name],
        `${name} of ${hours} hours`,
      )
    }
    assert.equal(totals.submissions, 6)
  }
})

test('in a time series with buckets of less than an hour, each event is in its own bucket, also when its hour is closed', async () => {
  world.clock.advance(3 * HOUR_MS - (world.clock.now() % HOUR_MS) + 47 * MINUTE_MS)
  const at = world.clock.now()
  assert.equal((await post(world.endpoint, '{"late":1}')).status, 201)
  world.clock.advance(2 * HOUR_MS)
  // A run counts two hours of minutes; the next one continues.
  for (let run = 0; run < 6; run += 1) await rollUp(world.app.deps)
  assert.ok(Date.parse((await summary()).closed_until) > at + HOUR_MS)
  for (const [hours, seconds] of [
    [3, 300],
    [24, 900],
  ] as const) {
    const { bucket_seconds, points } = await series({
      from: iso(world.clock.now() - hours * HOUR_MS),
      to: iso(world.clock.now()),
    })
    assert.equal(bucket_seconds, seconds)
    const hit = points.findLast((point: { submissions: number }) => point.submissions > 0)
    assert.equal(hit.at, iso(Math.floor(at / seconds / 1_000) * seconds * 1_000))
  }
})

test('with a project the answer covers only that project', async () => {
  const { project } = (await world.admin('POST', 'projects', { name: 'Other' })).body
  assert.equal((await summary({ project_id: project.id })).totals.submissions, 0)
  assert.equal((await summary({ project_id: world.installed.project.id })).totals.submissions, 7)
})

test('the dashboard reads the counts and never the events: it answers the same when the events are gone', async () => {
  const reported = await summary()
  await database.run(sql`truncate submissions, records, delivery_attempts, rejections`)
  assert.deepEqual(await summary(), reported)
})

test('a range that ends before it begins, or is longer than 400 days, is refused with the remedy', async () => {
  for (const query of [
    { from: '2026-01-02T00:00:00Z', to: '2026-01-01T00:00:00Z' },
    { from: '2020-01-01T00:00:00Z', to: '2026-01-01T00:00:00Z' },
  ]) {
    for (const path of ['summary', 'timeseries']) {
      const { status, body } = await world.admin('GET', `dashboard/${path}?${new URLSearchParams(query).toString()}`)
      assert.deepEqual([status, body.reason], [400, 'invalid_request'])
      assert.match(body.error, /before `to`|longer than 400 days/)
    }
  }
})

test('where a quota counts the month, usage is that exact count', async () => {
  await database.run(sql`update workspaces set plan = 'free'`)
  await database.run(
    sql`insert into monthly_usage (workspace_id, month, events, deliveries) select id, '2026-01-01', 7, 5 from workspaces`,
  )
  await database.run(sql`update workspaces set created_at = '2025-12-01'`)
  assert.deepEqual((await summary()).usage, {
    month: '2026-01',
    since: '2026-01-01T00:00:00.000Z',
    events: 7,
    max_events: 10_000,
    deliveries: 5,
    max_deliveries: 50_000,
  })
})
