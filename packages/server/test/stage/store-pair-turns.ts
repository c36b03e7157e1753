import assert from 'node:assert/strict'
import type { Begin, Held, Note, ReadAnswer, ReadInput, Settle, TurnInput } from '../../src/pipeline/deliver/ports.ts'
import type { Pair } from './store-pair.ts'
import {
  delivered,
  failed,
  failedProbe,
  gone,
  hopeless,
  interrupted,
  retryIn,
  settleOf,
  valueOf,
} from './store-rows.ts'
import { noteOf, type Step } from './store-step.ts'

export async function read(pair: Pair, step: Step): Promise<void> {
  const input: ReadInput = {
    reads: pair.some(step.n).map((lane) => {
      const row = pair.model.lane(lane)
      const due = row.deliveries.filter((delivery) => (delivery.next_attempt_at ?? Infinity) <= pair.now)
      return {
        lane,
        fence: row.fence - (step.m % 6 === 0 ? 1 : 0),
        limit: 1 + (step.m % 4),
        exclude: due.filter((_, index) => index % 3 === step.m % 4).map((delivery) => delivery.delivery_id),
        ordered: row.settings.ordered,
        recent: step.m % 2 === 0,
      }
    }),
  }
  assert.deepEqual(known(valueOf(await pair.store.read(input))), known(pair.model.read(pair.now, input)))
}

export const turn = (pair: Pair, step: Step): Promise<void> =>
  settleAndBegin(pair, { settles: settlesOf(pair, step), begins: beginsOf(pair, step), notes: notesOf(pair, step) })

async function settleAndBegin(pair: Pair, input: TurnInput): Promise<void> {
  const sqlIds = input.settles.map((settle) => ({
    ...settle,
    attempt_id: pair.sqlAttempt.get(settle.attempt_id) ?? '',
  }))
  const turned = valueOf(await pair.store.turn({ ...input, settles: sqlIds }))
  const expected = pair.model.turn(pair.now, input)
  for (const begun of turned.begun)
    pair.sqlAttempt.set(`${begun.delivery_id}#${begun.attempt_number}`, begun.attempt_id)
  const asModel = turned.begun.map(({ payload: _payload, ...begun }) => ({
    ...begun,
    attempt_id: `${begun.delivery_id}#${begun.attempt_number}`,
  }))
  assert.deepEqual(asModel.toSorted(byId), expected.begun.toSorted(byId))
  assert.deepEqual(turned.applied.toSorted(), expected.applied.map((id) => pair.sqlAttempt.get(id) ?? '').toSorted())
  assert.deepEqual(sortedHeld(turned.paused), sortedHeld(expected.paused))
  assert.deepEqual(sortedHeld(turned.lost), sortedHeld(expected.lost))
  for (const settle of input.settles)
    if (expected.applied.includes(settle.attempt_id)) pair.seen.add(`settled ${settle.next}`)
  if (expected.begun.length > 0) pair.seen.add('begun')
  if (expected.lost.length > 0) pair.seen.add('lost')
  if (expected.paused.length > 0) pair.seen.add('paused')
}

/** Ends of open attempts, and of some attempts that have ended already or have an older fence. */
function settlesOf(pair: Pair, step: Step): readonly Settle[] {
  const kinds = [delivered, retryIn(4_000), retryIn(60_000), failed, interrupted, gone, failedProbe, hopeless]
  const chosen = [...pair.model.attempts.values()].filter(
    (attempt, index) => (step.n + index) % (attempt.outcome === null ? 2 : 9) === 0,
  )
  const stale = step.m % 11 === 0 ? 1 : 0
  return chosen.map((attempt, index) =>
    settleOf({ ...attempt, fence: attempt.fence - stale }, kinds[(step.m + index) % kinds.length] ?? delivered),
  )
}

/** Notes of some lanes, now and then under an older fence or with a serial that came too late. */
function notesOf(pair: Pair, step: Step): readonly Note[] {
  return pair.some(step.m % 8).map((lane) => ({
    lane,
    fence: pair.model.lane(lane).fence - (step.n % 7 === 0 ? 1 : 0),
    ...noteOf(step),
  }))
}

/**
 * Begins of any deliveries, due or not, but never of one that the same turn settles, because no machine does that.
 */
function beginsOf(pair: Pair, step: Step): readonly Begin[] {
  const settled = new Set(settlesOf(pair, step).map((settle) => settle.delivery_id))
  const chosen = [...pair.model.deliveries.values()].filter(
    (row, index) => !settled.has(row.delivery_id) && (step.n + index) % 3 !== 0,
  )
  return chosen.slice(0, step.n % 8).map(({ lane, delivery_id }, index) => {
    const stale = step.m % 7 === 0 && index % 2 === 0 ? 1 : 0
    return {
      lane,
      fence: pair.model.lane(lane).fence - stale,
      delivery_id,
      ordered: pair.model.lane(lane).settings.ordered,
    }
  })
}

/** For a lost lane only the status matters. */
const known = ({ lanes }: ReadAnswer) =>
  lanes.map((one) => (one.status === 'lost' ? { lane: one.lane, fence: one.fence, status: one.status } : one))

const byId = (a: { delivery_id: string }, b: { delivery_id: string }): number =>
  a.delivery_id < b.delivery_id ? -1 : 1

function sortedHeld(held: readonly Held[]): string[] {
  return held.map(({ lane, fence }) => `${lane} ${fence}`).toSorted()
}
