import assert from 'node:assert/strict'
import { decodeId, type HoldCause } from '@postroad/contract'
import { sql, type Database } from '../../src/platform/db.ts'
import { aDestination, post } from './fixtures.ts'
import type { Answer, World } from './harness.ts'

/**
 * Every state of a delivery at a destination of every light and with every cause that holds deliveries back, in a world
 * without senders. The expected causes are written here independently of the product, for a walk through every place.
 */

const PROBE_MS = 30_000

type Breaker = { readonly state: string; readonly failures_in_row: number; readonly probe_in_ms: number | null }
const breakerOf = (breaker: Breaker) => ({
  failing_ms: 60_000,
  opened_ms: breaker.state === 'closed' ? null : 10_000,
  probe_wait_ms: PROBE_MS,
  cap: breaker.state === 'recovering' ? 2 : 0,
  last_failure: { error_code: 'bad_status', status: 503 },
  counts: [],
  ...breaker,
})

type Lane = {
  readonly name: string
  readonly cause: HoldCause | null
  /** The word of the light of the destination. */
  readonly light: string
  readonly members?: object
  readonly off?: 'by_hand' | 'gone' | 'failing'
  readonly breaker?: Breaker
  readonly rate?: object
}

export const LANES: readonly Lane[] = [
  { name: 'Fine', cause: null, light: 'on' },
  {
    name: 'Failing',
    cause: null,
    light: 'failing',
    breaker: { state: 'closed', failures_in_row: 3, probe_in_ms: null },
  },
  {
    name: 'Open',
    cause: 'breaker_open',
    light: 'breaker open',
    breaker: { state: 'open', failures_in_row: 10, probe_in_ms: PROBE_MS },
  },
  {
    name: 'Probing',
    cause: 'breaker_open',
    light: 'probing',
    breaker: { state: 'half_open', failures_in_row: 10, probe_in_ms: null },
  },
  {
    name: 'Recovering',
    cause: 'breaker_recovering',
    light: 'recovering',
    breaker: { state: 'recovering', failures_in_row: 0, probe_in_ms: null },
  },
  { name: 'Off', cause: 'destination_off', light: 'off', off: 'by_hand' },
  { name: 'Gone', cause: 'destination_disabled', light: 'disabled: gone', off: 'gone' },
  { name: 'Given up', cause: 'destination_disabled', light: 'disabled: failing', off: 'failing' },
  {
    name: 'Limited',
    cause: 'rate_limit',
    light: 'on',
    members: { rate_limit: { count: 1, per: 'hour' } },
    rate: { sends: [{ age_ms: 0, count: 1 }], pending: 0 },
  },
  { name: 'Full', cause: 'in_flight', light: 'on', members: { max_in_flight: 1 } },
  { name: 'Ordered', cause: 'order', light: 'on', members: { ordering: { path: 'key' } } },
]

type State = 'pending' | 'sending' | 'delivered' | 'retrying' | 'failed' | 'paused' | 'cancelled'
type Case = {
  readonly state: State
  readonly pause_reason?: 'destination_disabled' | 'allowance_used'
  /** The time until it is due, in ms. */
  readonly due?: number
}

/** The delivery that is being sent comes first, because in a lane with an order the others wait for it. */
export const CASES: readonly Case[] = [
  { state: 'sending' },
  { state: 'pending', due: 0 },
  { state: 'retrying', due: 0 },
  { state: 'retrying', due: PROBE_MS / 2 },
  { state: 'retrying', due: 3_600_000 },
  { state: 'delivered' },
  { state: 'failed' },
  { state: 'cancelled' },
  { state: 'paused', pause_reason: 'destination_disabled' },
  { state: 'paused', pause_reason: 'allowance_used' },
]

/** The cause that this delivery must show in this lane; null: nothing holds it back. */
function causeOf(lane: Lane, { state, pause_reason, due }: Case): HoldCause | null {
  const isOff = lane.off !== undefined
  if (state === 'paused') return isOff && pause_reason === 'destination_disabled' ? lane.cause : null
  if (due === undefined) return null
  if (isOff || due === 0) return lane.cause
  return lane.name === 'Open' && due < PROBE_MS ? lane.cause : null
}

export type Prepared = {
  readonly lane: Lane
  readonly destinationId: string
  readonly dataset: string
  readonly deliveries: readonly {
    readonly id: string
    readonly recordId: string
    readonly case: Case
    readonly cause: HoldCause | null
  }[]
}

/** Makes all states. No process may send or sweep in this world, so ROLES must be `web`. */
export async function prepareStates(world: World, database: Database): Promise<readonly Prepared[]> {
  const prepared: Prepared[] = []
  // oxlint-disable-next-line no-await-in-loop -- one after the other
  for (const lane of LANES) prepared.push(await prepareLane(world, database, lane))
  return prepared
}

// oxlint-disable-next-line max-params -- where, behind what, and which
async function prepareLane(world: World, database: Database, lane: Lane): Promise<Prepared> {
  const dataset = `walk_${lane.name.toLowerCase().replace(' ', '_')}`
  const { destination } = await aDestination(world, {
    name: lane.name,
    url: 'https://example.com/',
    datasets: [dataset],
    ...lane.members,
  })
  const uuid = decodeId('destination', destination.id) ?? ''
  const recordIds: string[] = []
  for (const [index] of CASES.entries()) {
    // oxlint-disable-next-line no-await-in-loop -- in this order
    const answer = await post(`${world.endpoint}/${dataset}`, JSON.stringify({ type: `case.${index}`, key: 'k' }))
    assert.equal(answer.status, 201)
    recordIds.push(answer.body.records[0].id)
  }
  const now = world.clock.now()
  const rows = await database.many<{ id: string; record_id: string }>(
    sql`select id, record_id from deliveries where destination_id = ${uuid} order by id`,
  )
  for (const [index, row] of rows.entries()) {
    const { state, pause_reason = null, due } = CASES[index] ?? { state: 'pending' }
    // oxlint-disable-next-line no-await-in-loop -- as above
    await database.run(sql`
      update deliveries
         set state = ${state}, pause_reason = ${pause_reason}, attempt_count = ${state === 'pending' ? 0 : 1},
             next_attempt_at = ${due === undefined ? null : new Date(now + due)}
       where id = ${row.id}
    `)
  }
  await setLane(database, { lane, uuid, now: new Date(now) })
  const { deliveries } = (await world.admin('GET', `deliveries?destination_id=${destination.id}&limit=200`)).body
  const byRecord = new Map<string, Answer['body']>(deliveries.map((row: Answer['body']) => [row.record_id, row]))
  return {
    lane,
    destinationId: destination.id,
    dataset,
    deliveries: CASES.map((one, index) => ({
      id: byRecord.get(recordIds[index] ?? '')?.id ?? assert.fail('each event has its delivery'),
      recordId: recordIds[index] ?? '',
      case: one,
      cause: causeOf(lane, one),
    })),
  }
}

async function setLane(
  database: Database,
  { lane, uuid, now }: { readonly lane: Lane; readonly uuid: string; readonly now: Date },
): Promise<void> {
  if (lane.off !== undefined)
    await database.run(
      sql`update destinations set enabled = false, disabled_reason = ${lane.off}, disabled_at = ${now} where id = ${uuid}`,
    )
  if (lane.breaker === undefined && lane.rate === undefined) return
  const memory = {
    breaker: lane.breaker === undefined ? null : breakerOf(lane.breaker),
    rate: lane.rate ?? null,
    breaker_resets: 0,
    probes_asked: 0,
  }
  await database.run(
    sql`update lanes set memory = ${JSON.stringify(memory)}::json, remembered_at = ${now} where destination_id = ${uuid}`,
  )
}
