import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Rng } from '../../../sim/rng.ts'
import { mayTakeSlot, type SlotRules } from '../../domain/delivery/slot-share.ts'
import { openLane, type Lane } from './lane.ts'
import { ReadyLanes } from './ready-lanes.ts'
import { Workspaces } from './workspaces.ts'

const settings = {
  max_in_flight: 1_000,
  schedule_seconds: [0],
  timeout_ms: 1_000,
  rate_limit: null,
  breaker_resets: 0,
  probes_asked: 0,
  ordered: false,
}

/** Lanes that always have work; each takes a slot whenever it may. */
class Process {
  readonly lanes: readonly Lane[]
  readonly ready: ReadyLanes
  readonly rules: SlotRules
  readonly #waiting = new Set<Lane>()

  constructor(lanes: readonly string[], rules: SlotRules) {
    const workspaces = new Workspaces<Lane>()
    this.rules = rules
    this.ready = new ReadyLanes(workspaces, rules)
    this.lanes = lanes.map((lane) => {
      const [workspace = ''] = lane.split('/')
      const grant = { lane, fence: 1, workspace, settings, memory: null, orphans_end_in_ms: [] }
      return openLane(grant, { workspace: workspaces.joined(workspace), now: 0 })
    })
  }

  lineUp(lane: Lane): void {
    if (!this.#waiting.has(lane)) this.ready.push(lane)
    this.#waiting.add(lane)
  }

  /** Gives out slots until nobody may take one. */
  fill(): string[] {
    const taken: string[] = []
    for (let lane = this.ready.next(); lane !== undefined; lane = this.ready.next()) {
      this.#waiting.delete(lane)
      lane.slots.sending += 1
      this.ready.take(lane)
      taken.push(lane.key)
      this.lineUp(lane)
    }
    return taken
  }

  free(lane: Lane): void {
    lane.slots.sending -= 1
    this.ready.free(lane)
  }

  /** The lanes that wait although they may take a slot. */
  get forgotten(): readonly string[] {
    const all = this.lanes.reduce((sum, { slots }) => sum + slots.sending, 0)
    const may = ({ workspace, slots }: Lane) =>
      mayTakeSlot({ all, ofWorkspace: workspace.inUse, ofLane: slots.sending }, this.rules)
    return [...this.#waiting].filter(may).map(({ key }) => key)
  }
}

const lanesOf = (workspace: string, count: number) => Array.from({ length: count }, (_, n) => `${workspace}/${n}`)

test('no slot stays free while a lane waits that may take it', () => {
  const rng = new Rng(3)
  for (let round = 0; round < 200; round += 1) {
    const lanes = ['a', 'b', 'c', 'd', 'e'].flatMap((workspace) => lanesOf(workspace, rng.int(1, 3)))
    const process = new Process(lanes, { all: rng.int(2, 30), reserved: rng.int(0, 4), share: rng.pick([1, 2, 8]) })
    for (let step = 0; step < 100; step += 1) {
      const busy = process.lanes.filter(({ slots }) => slots.sending > 0)
      if (busy.length > 0 && rng.chance(0.6)) process.free(rng.pick(busy))
      else process.lineUp(rng.pick(process.lanes))
      process.fill()
      assert.deepEqual(process.forgotten, [])
    }
  }
})

test('two destinations that take all they can leave room for the first hundred requests of another workspace', () => {
  const process = new Process(['a/0', 'a/1', 'v/0'], { all: 2_000, reserved: 250, share: 8 })
  for (const lane of process.lanes.slice(0, 2)) process.lineUp(lane)
  assert.ok(process.fill().length > 1_500)
  const victim = process.lanes[2]
  assert.ok(victim)
  process.lineUp(victim)
  assert.ok(process.fill().filter((key) => key === 'v/0').length >= 100)
})

test('when every slot is taken, each one that is freed goes to the next workspace without any, in the order of its work', () => {
  const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']
  const process = new Process([...lanesOf('x', 2), ...names.flatMap((name) => lanesOf(name, 2))], {
    all: 10,
    reserved: 4,
    share: 8,
  })
  const [first, second, ...others] = process.lanes
  assert.ok(first && second)
  for (const lane of [first, second, ...others]) process.lineUp(lane)
  process.fill()
  const without = () =>
    names.filter((name) => others.every(({ key, slots }) => !key.startsWith(name) || slots.sending === 0))
  for (const name of without()) {
    const busy =
      process.lanes.find(({ workspace }) => workspace.inUse > 1) ?? process.lanes.find(({ slots }) => slots.sending > 0)
    assert.ok(busy)
    process.free(busy)
    assert.deepEqual(process.fill(), [`${name}/0`])
  }
})
