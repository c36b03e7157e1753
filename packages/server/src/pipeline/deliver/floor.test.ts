import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Floor } from './floor.ts'
import { openLane } from './lane.ts'
import { DELIVER_LIMITS } from './limits.ts'

const settings = { max_in_flight: 1, schedule_seconds: [0], timeout_ms: 1_000, rate_limit: null, breaker_resets: 0, ordered: false }
const aLane = () => openLane({ lane: 'd', fence: 1, settings, memory: null, orphans_end_in_ms: [] }, 0)

test('an alarm that was replaced by an earlier one wakes nobody', () => {
  const floor = new Floor({ limits: DELIVER_LIMITS, random: () => 0 })
  const lane = aLane()
  floor.alarm(lane, 100)
  floor.alarm(lane, 50)
  assert.equal(floor.nextAlarmAt(), 50)
  floor.now = 50
  assert.deepEqual(floor.ringing(), [lane])
  assert.equal(floor.nextAlarmAt(), Infinity)
  floor.alarm(lane, 120)
  assert.equal(floor.nextAlarmAt(), 120)
})
