import assert from 'node:assert/strict'
import { LEFTOVER, readyAt, workAt, type LaneRow } from '../../sim/rows.ts'
import type { LeaseInput, Leased, RenewInput } from '../../src/pipeline/deliver/ports.ts'
import type { Pair } from './store-pair.ts'
import { valueOf } from './store-rows.ts'
import { LEASE_MS, noteOf, ownerOf, type Step } from './store-step.ts'

export async function renew(pair: Pair, input: RenewInput): Promise<void> {
  assert.deepEqual(valueOf(await pair.store.renew(input)), pair.model.renew(pair.now, input))
}

export async function lease(pair: Pair, step: Step): Promise<void> {
  const owner = ownerOf(step)
  const serial = (pair.serials.get(owner) ?? 0) + (step.n % 7 === 0 ? 0 : 1)
  pair.serials.set(owner, serial)
  const input: LeaseInput = {
    owner,
    lease_ms: LEASE_MS,
    serial,
    doubtful_from: step.m % 5 === 0 ? Math.max(0, serial - 2) : null,
    wanted: step.n % 2 === 0 ? pair.some(step.m) : [],
    any_due: step.n % 3 !== 0,
    // A lane that is only cleaned up takes a place too; the model cleans up separately.
    lanes_max: step.n % 4 === 1 && !mustClearUp(pair) ? 1 : 100,
    share: { held: step.m % 6, avoid: step.n % 11 === 0 ? pair.some(step.n) : [], fairly: false },
  }
  const leased = valueOf(await pair.store.lease(input))
  const bounded = input.any_due && input.lanes_max === 1 && leased.grants.length === 1
  const expected = bounded ? leaseBounded(pair, input, leased) : pair.model.lease(pair.now, input)
  assert.deepEqual(sortedLease(leased), sortedLease(expected))
  if (expected.grants.some((grant) => grant.orphans_end_in_ms.length > 0)) pair.seen.add('orphaned')
}

/**
 * The store is free to choose which of several lanes a small call gets, within the order of their work; the model
 * then follows.
 */
function leaseBounded(pair: Pair, input: LeaseInput, leased: Leased): Leased {
  const { model } = pair
  const freed = (lane: LaneRow): boolean =>
    input.doubtful_from !== null && lane.owner === input.owner && lane.serial >= input.doubtful_from
  const free = [...model.lanes.values()].filter((lane) => isFree(pair, lane) || freed(lane))
  const ready = free.filter((lane) => model.pauseReason(lane) === null && readyAt(lane) <= pair.now)
  const [grant] = leased.grants
  assert.ok(grant)
  assert.equal(
    workAt(model.lane(grant.lane)),
    Math.min(...ready.map(workAt)),
    'of lanes that are ready the one with the oldest work is granted first',
  )
  const followed = model.lease(pair.now, { ...input, any_due: false, wanted: [grant.lane] })
  const elsewhere = input.wanted.filter((key) => {
    const lane = model.lane(key)
    return isFree(pair, lane) ? (lane.waits_until ?? pair.now) > pair.now : lane.owner !== input.owner
  })
  return { ...followed, elsewhere, more: ready.length > 1 }
}

function isFree(pair: Pair, { owner }: LaneRow): boolean {
  return owner === null || (pair.model.owners.get(owner)?.until ?? -Infinity) <= pair.now
}

function mustClearUp(pair: Pair): boolean {
  return [...pair.model.lanes.values()].some(
    (lane) => lane.unswept || (pair.model.pauseReason(lane) !== null && workAt(lane) === LEFTOVER),
  )
}

export async function release(pair: Pair, step: Step): Promise<void> {
  const owner = ownerOf(step)
  const held = [...pair.model.lanes.values()]
    .filter((lane) => lane.owner === owner)
    .map(({ lane, fence }) => ({ lane, fence }))
  const ones = held.map((one) => (step.m % 3 === 0 ? { ...one, fence: one.fence - 1 } : one))
  const lanes =
    step.n % 6 === 0
      ? 'all'
      : ones.map((one, index) => ((step.n + index) % 2 === 0 ? one : { ...one, note: noteOf(step) }))
  if (lanes === 'all') pair.serials.delete(owner)
  assert.deepEqual(valueOf(await pair.store.release({ owner, lanes })), pair.model.release(pair.now, { owner, lanes }))
}

const byLane = (a: { lane: string }, b: { lane: string }): number => (a.lane < b.lane ? -1 : 1)

function sortedLease(leased: Leased): Leased {
  const grants = leased.grants.map((grant) => ({
    ...grant,
    orphans_end_in_ms: grant.orphans_end_in_ms.toSorted((a, b) => a - b),
  }))
  return { ...leased, grants: grants.toSorted(byLane), elsewhere: [...leased.elsewhere].toSorted() }
}
