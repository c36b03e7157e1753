import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Rng } from '../../../sim/rng.ts'
import { mayTakeSlot, type SlotRules } from './slot-share.ts'

const RULES: SlotRules = { all: 2_000, reserved: 250, share: 8 }

/** How many slots one destination of each of these workspaces gets in turns until none of them may take one more. */
function filled(held: readonly number[], rules = RULES): number[] {
  const of = [...held]
  const all = () => of.reduce((sum, slots) => sum + slots, 0)
  const takes = (slots: number) => mayTakeSlot({ all: all(), ofWorkspace: slots, ofLane: slots }, rules)
  for (let moved = true; moved;) {
    moved = false
    for (const [index, slots] of of.entries()) {
      if (!takes(slots)) continue
      of[index] = slots + 1
      moved = true
    }
  }
  return of
}

test('a workspace alone gets three quarters of all slots, and the next one finds more than a hundred free at once', () => {
  const [alone = 0] = filled([0])
  assert.ok(alone >= 1_500, `${alone}`)
  const [, next = 0] = filled([alone, 0])
  assert.ok(next >= 100, `${next}`)
})

test('workspaces that start together get the same number of slots', () => {
  for (const workspaces of [2, 3, 10, 100]) {
    const slots = filled(Array.from({ length: workspaces }, () => 0))
    assert.ok(Math.max(...slots) - Math.min(...slots) <= 1, slots.join(' '))
    assert.ok(slots.reduce((sum, of) => sum + of, 0) <= RULES.all - RULES.reserved)
  }
})

test('a destination that has all the slots that it can get leaves some to the others of its workspace', () => {
  const [slots = 0] = filled([0])
  const inUse = { all: slots, ofWorkspace: slots }
  assert.ok(!mayTakeSlot({ ...inUse, ofLane: slots }, RULES))
  assert.ok(mayTakeSlot({ ...inUse, ofLane: 0 }, RULES))
})

test('whatever others have, a workspace without a slot gets one, while fewer workspaces than reserved slots have any', () => {
  const rng = new Rng(7)
  for (let round = 0; round < 300; round += 1) {
    const rules = { all: rng.int(4, 40), reserved: rng.int(1, 3), share: rng.pick([1, 2, 8]) }
    const of = Array.from({ length: rules.reserved }, () => 0)
    let all = 0
    for (let step = 0; step < 200; step += 1) {
      const index = rng.int(0, of.length - 1)
      const slots = of[index] ?? 0
      if (rng.chance(0.2) && slots > 0) {
        of[index] = slots - 1
        all -= 1
      } else if (mayTakeSlot({ all, ofWorkspace: slots, ofLane: rng.int(0, slots) }, rules)) {
        of[index] = slots + 1
        all += 1
      }
      assert.ok(
        mayTakeSlot({ all, ofWorkspace: 0, ofLane: 0 }, rules),
        `${all} of ${rules.all} in use: ${of.join(' ')}`,
      )
    }
  }
})

test('if a workspace with many slots may take one more, a workspace with fewer may too', () => {
  const rng = new Rng(11)
  for (let round = 0; round < 5_000; round += 1) {
    const rules = { all: rng.int(1, 60), reserved: rng.int(0, 5), share: rng.int(1, 9) }
    const all = rng.int(0, rules.all)
    const more = rng.int(0, all)
    const fewer = rng.int(0, more)
    if (!mayTakeSlot({ all, ofWorkspace: more, ofLane: more }, rules)) continue
    assert.ok(mayTakeSlot({ all, ofWorkspace: fewer, ofLane: fewer }, rules))
    assert.ok(mayTakeSlot({ all, ofWorkspace: more, ofLane: fewer }, rules))
  }
})
