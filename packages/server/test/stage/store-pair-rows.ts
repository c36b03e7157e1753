import assert from 'node:assert/strict'
import { sql } from '../../src/platform/db.ts'
import type { Pair } from './store-pair.ts'

/** Every row of the store, in the words of the model. */
export async function compareRows(pair: Pair): Promise<void> {
  await compareDeliveries(pair)
  await compareAttempts(pair)
  await compareLanes(pair)
}

async function compareDeliveries(pair: Pair): Promise<void> {
  const rows = await pair.rows.deliveries()
  for (const { state } of rows) pair.seen.add(`state ${state}`)
  assert.deepEqual(
    [...rows].map((row) => ({ ...row, next_attempt_at: row.next_attempt_at?.toISOString() ?? null })),
    [...pair.model.deliveries.values()].map((row) => ({
      id: row.delivery_id,
      state: row.state,
      pause_reason: row.pause_reason,
      next_attempt_at: iso(row.next_attempt_at),
      attempt_count: row.attempt_count,
      failure_count: row.failure_count,
      next_trigger: row.next_trigger,
    })),
  )
}

async function compareAttempts(pair: Pair): Promise<void> {
  const attempts = await pair.rows.deps.database.many(sql`
    select delivery_id || '#' || number as id, outcome, trigger, fence, started_at from delivery_attempts order by id
  `)
  assert.deepEqual(
    [...attempts],
    [...pair.model.attempts.values()]
      .map((row) => ({
        id: row.attempt_id,
        outcome: row.outcome,
        trigger: row.trigger,
        fence: row.fence,
        started_at: new Date(row.started_at),
      }))
      .toSorted((a, b) => (a.id < b.id ? -1 : 1)),
  )
}

async function compareLanes(pair: Pair): Promise<void> {
  const lanes = await pair.rows.deps.database.many(sql`
    select workspace_id || '/' || destination_id as lane, owner, fence, case when owner is not null then serial end as serial,
           memory, note_serial, waits_until, breaker_resets, probes_asked, case when memory is not null then remembered_at end as remembered_at
      from lanes order by lane
  `)
  assert.deepEqual(
    [...lanes],
    [...pair.model.lanes.values()]
      .map(({ lane, owner, fence, serial, memory, note_serial, waits_until, settings, remembered_at }) => ({
        lane,
        owner,
        fence,
        serial: owner === null ? null : serial,
        memory,
        note_serial,
        waits_until: waits_until === null ? null : new Date(waits_until),
        breaker_resets: settings.breaker_resets,
        probes_asked: settings.probes_asked,
        remembered_at: memory === null ? null : new Date(remembered_at),
      }))
      .toSorted((a, b) => (a.lane < b.lane ? -1 : 1)),
  )
  const orphans = await pair.rows.deps.database.many<{ lane: string; ends_by: Date }>(sql`
    select workspace_id || '/' || destination_id as lane, ends_by from orphaned_requests where ends_by > ${pair.rows.now} order by lane, ends_by
  `)
  const expected = [...pair.model.lanes.values()].flatMap(({ lane, orphans: all }) =>
    all.map(({ ends_by }) => ({ lane, ends_by: new Date(ends_by) })),
  )
  assert.deepEqual([...orphans], expected.filter(({ ends_by }) => ends_by > pair.rows.now).toSorted(byLaneAndEnd))
  const owners = await pair.rows.deps.database.many(
    sql`select owner, lease_until, serial from lane_owners order by owner`,
  )
  assert.deepEqual(
    [...owners],
    [...pair.model.owners]
      .map(([owner, row]) => ({ owner, lease_until: new Date(row.until), serial: row.serial }))
      .toSorted((a, b) => (a.owner < b.owner ? -1 : 1)),
  )
}

const byLane = (a: { lane: string }, b: { lane: string }): number => (a.lane < b.lane ? -1 : 1)

const byLaneAndEnd = (a: { lane: string; ends_by: Date }, b: { lane: string; ends_by: Date }): number =>
  a.lane === b.lane ? a.ends_by.getTime() - b.ends_by.getTime() : byLane(a, b)

const iso = (ms: number | null): string | null => (ms === null ? null : new Date(ms).toISOString())
