import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MachineState } from './machine-state.ts'
import { openLane } from './lane.ts'
import { DELIVER_LIMITS } from './limits.ts'

const settings = {
  max_in_flight: 1,
  schedule_seconds: [0],
  timeout_ms: 1_000,
  rate_limit: null,
  breaker_resets: 0,
  probes_asked: 0,
  ordered: false,
}
const aLane = () => openLane({ lane: 'd', fence: 1, settings, memory: null, orphans_end_in_ms: [] }, 0)

test('an alarm that was replaced by an earlier one wakes nobody', () => {
  const state = new MachineState({ limits: DELIVER_LIMITS, random: () => 0 })
  const lane = aLane()
  state.alarm(lane, 100)
  state.alarm(lane, 50)
  assert.equal(state.nextAlarmAt(), 50)
  state.now = 50
  assert.deepEqual(state.ringing(), [lane])
  assert.equal(state.nextAlarmAt(), Infinity)
  state.alarm(lane, 120)
  assert.equal(state.nextAlarmAt(), 120)
})
