import assert from 'node:assert/strict'
import { deliveryLight, destinationLight, HOLD_CAUSES, TROUBLE_CAUSES, wordOf } from '@postroad/contract'
import { test } from 'node:test'
import { prepareStates, type Prepared } from '../stage/held-states.ts'
import type { Answer, World } from '../stage/harness.ts'
import { onWorldStage } from '../stage/world-stage.ts'

/** Every state of a delivery at a destination of every light: all places of the API agree about its cause. */

let world: World
let all: readonly Prepared[]

onWorldStage(
  async (made) => {
    ;({ world } = made)
    all = await prepareStates(world, made.database)
  },
  { env: { ROLES: 'web' } },
)

type Body = Answer['body']
const STATES = ['pending', 'sending', 'delivered', 'retrying', 'failed', 'paused', 'cancelled'] as const

const get = async (path: string): Promise<Body> => {
  const { status, body } = await world.admin('GET', path)
  assert.equal(status, 200, `${path}: ${JSON.stringify(body)}`)
  return body
}
const idsOf = (rows: readonly { readonly id: string }[]): readonly string[] => rows.map(({ id }) => id).toSorted()
/** The ids of the deliveries of a lane that match, according to the table of the stage. */
const those = (of: Prepared, like: (one: Prepared['deliveries'][number]) => boolean): readonly string[] =>
  of.deliveries
    .filter(like)
    .map(({ id }) => id)
    .toSorted()

test('the list, the item, the story and the search show the cause of each delivery', async () => {
  for (const of of all) {
    const rows: Body[] = (await get(`deliveries?destination_id=${of.destinationId}&limit=200`)).deliveries
    const byId = new Map(rows.map((row) => [row.id, row]))
    assert.equal(rows.length, of.deliveries.length)
    assert.deepEqual((await get(`search/deliveries?destination=${of.destinationId}&limit=200`)).deliveries, rows)
    for (const { id, case: wanted, cause } of of.deliveries) {
      const row = byId.get(id)
      const about = `${of.lane.name}: ${JSON.stringify(wanted)}`
      assert.deepEqual([row.state, row.held_by?.cause ?? null], [wanted.state, cause], about)
      const { attempts: _attempts, ...item } = (await get(`deliveries/${id}`)).delivery
      assert.deepEqual(item, row, about)
      const story = await get(`search/correlate/${id}`)
      assert.deepEqual(story.deliveries.find((one: Body) => one.id === id)?.held_by, row.held_by, about)
      assert.deepEqual((await get(`deliveries?record_id=${row.record_id}`)).deliveries, [row], about)
    }
  }
})

test('a filter by a cause, with and without a state, finds exactly the deliveries that show it', async () => {
  for (const of of all) {
    for (const asked of ['any', ...HOLD_CAUSES]) {
      for (const state of [undefined, ...STATES]) {
        const expected = those(
          of,
          ({ cause, case: one }) =>
            (asked === 'any' ? cause !== null : cause === asked) && (state === undefined || one.state === state),
        )
        const query = `held_by=${asked}&limit=200${state === undefined ? '' : `&state=${state}`}`
        const about = `${of.lane.name}: ${query}`
        assert.deepEqual(
          idsOf((await get(`deliveries?destination_id=${of.destinationId}&${query}`)).deliveries),
          expected,
          about,
        )
        assert.deepEqual(
          idsOf((await get(`search/deliveries?destination=${of.destinationId}&${query}`)).deliveries),
          expected,
          about,
        )
      }
    }
  }
})

/** The counts of a destination; one that holds nothing back has no entry. */
const countsIn = (hold: Body): readonly unknown[] =>
  hold === undefined ? [0, null, false] : [hold.deliveries, hold.cause, hold.more]

test('the destinations that hold deliveries back, the health of each and the summary count them', async () => {
  const { holds, truncated } = await get('delivery-holds')
  assert.equal(truncated, false)
  let sum = 0
  for (const of of all) {
    const held = those(of, ({ cause }) => cause !== null).length
    sum += held
    const cause = held === 0 ? null : of.lane.cause
    assert.deepEqual(countsIn(holds.find((one: Body) => one.destination_id === of.destinationId)), [held, cause, false])
    const { health } = await get(`destinations/${of.destinationId}/health`)
    assert.deepEqual([health.backlog.held, health.held_by?.cause ?? null], [held, cause], of.lane.name)
  }
  const { summary } = await get('dashboard/summary')
  assert.equal(summary.backlog.held, sum)
  assert.equal(sum, 28)
})

const isStuck = ({ cause }: Prepared['deliveries'][number]): boolean => cause !== null && TROUBLE_CAUSES.has(cause)

test('the searches find each event and each delivery that failed, retries or is stuck', async () => {
  for (const of of all) {
    for (const [states, like] of [
      ['stuck', isStuck],
      [
        'failed,retrying,stuck',
        (one: Prepared['deliveries'][number]) => ['failed', 'retrying'].includes(one.case.state) || isStuck(one),
      ],
    ] as const) {
      assert.deepEqual(
        idsOf((await get(`search/deliveries?destination=${of.destinationId}&state=${states}&limit=200`)).deliveries),
        those(of, like),
        `${of.lane.name}: ${states}`,
      )
      const records = (await get(`search/events?dataset=${of.dataset}&state=${states}&limit=200`)).records
      assert.deepEqual(
        idsOf(records),
        of.deliveries
          .filter(like)
          .map(({ recordId }) => recordId)
          .toSorted(),
        `${of.lane.name}: events ${states}`,
      )
    }
  }
})

test('a destination has one light in the list, by itself and in its health', async () => {
  const { destinations } = await get('destinations?limit=200')
  for (const of of all) {
    const shown = (await get(`destinations/${of.destinationId}`)).destination
    const listed = destinations.find((one: Body) => one.id === of.destinationId)
    const { enabled, disabled_reason, breaker } = (await get(`destinations/${of.destinationId}/health`)).health
    for (const lit of [shown, listed, { enabled, disabled_reason, breaker }])
      assert.equal(destinationLight(lit).word, of.lane.light, of.lane.name)
  }
})

test('the light of a delivery shows that it is held back unless it is paused, and is red only where someone must act', async () => {
  for (const of of all) {
    for (const { case: one, cause } of of.deliveries) {
      const { word, tone } = deliveryLight({ state: one.state, held_by: cause === null ? null : { cause } })
      assert.equal(word, cause === null || one.state === 'paused' ? wordOf(one.state) : 'held')
      assert.equal(
        tone === 'fail',
        one.state === 'failed' || cause === 'breaker_open' || cause === 'destination_disabled',
        `${of.lane.name} ${one.state}`,
      )
    }
  }
})
