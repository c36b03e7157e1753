import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MachineState } from './machine-state.ts'
import { openLane, type Lane } from './lane.ts'
import { DELIVER_LIMITS } from './limits.ts'
import { Workspaces } from './workspaces.ts'

const settings = {
  max_in_flight: 1,
  schedule_seconds: [0],
  timeout_ms: 1_000,
  rate_limit: null,
  breaker_resets: 0,
  probes_asked: 0,
  ordered: false,
}
const grant = { lane: 'd', fence: 1, workspace: 'w', settings, memory: null, orphans_end_in_ms: [] }
const aLane = () => openLane(grant, { workspace: new Workspaces<Lane>().joined('w'), now: 0 })

test('a timer that an earlier one has replaced does not fire', () => {
  const state = new MachineState({ limits: DELIVER_LIMITS, random: () => 0 })
  const lane = aLane()
  state.setTimer(lane, 100)
  state.setTimer(lane, 50)
  assert.equal(state.nextTimerAt(), 50)
  state.now = 50
  assert.deepEqual(state.takeFired(), [lane])
  assert.equal(state.nextTimerAt(), Infinity)
  state.setTimer(lane, 120)
  assert.equal(state.nextTimerAt(), 120)
})
