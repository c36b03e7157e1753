import { probeLane } from './probe.ts'
import { MINUTE_MS } from './plan.ts'
import type { Player, Scene } from './scene.ts'

/** Puts all faults of this world's plan into its agenda. */
export function scheduleFaults(world: Scene): void {
  const { agenda, plan, rng } = world
  const each = (times: readonly number[], run: () => void) => {
    for (const at of times) agenda.at(at, () => !world.calm && run())
  }
  each(plan.crashes, () => crash(world, rng.pick(world.workers)))
  each(plan.pauses, () => rng.pick(world.workers).pause(rng.between(500, rng.pick([3_000, MINUTE_MS]))))
  each(plan.stops, () => rng.pick(world.workers).stop())
  each(plan.suspensions, () => suspend(world, rng.pick(['w0', 'w1'])))
  each(plan.disablings, () => disable(world, rng.pick([...world.store.lanes.keys()])))
  each(plan.replays, () => (rng.chance(0.5) ? replay(world) : replayMany(world)))
  each(plan.retries, () => retry(world))
  each(plan.probes, () => probe(world))
  each(plan.cancels, () => cancel(world))
  each(plan.swizzles, () => swizzle(world))
  for (const { at, overlapMs } of plan.rotations)
    agenda.at(at, () => !world.calm && rotate(world, rng.pick([...world.store.lanes.keys()]), overlapMs))
  for (const { at, workspace, max, turned } of plan.allowances)
    agenda.at(at, () => !world.calm && allow(world, workspace, { max, turned }))
}

/** Undoes every lasting fault. After that, everything must come to rest. */
export function healAll(world: Scene): void {
  const { agenda, store } = world
  for (const receiver of world.receivers.values()) {
    receiver.clogged = false
    receiver.outage = null
    receiver.healed = true
  }
  for (const worker of world.workers) {
    worker.clogged = false
    worker.start()
  }
  for (const workspace of store.suspended) reinstate(world, workspace)
  enableAll(world)
  // A late 410 answer turns its destination off once more.
  agenda.after(LATE_ANSWER_MS, () => enableAll(world))
  if (world.plan.allowances.length > 0) for (const workspace of ['w0', 'w1']) turnMonths(world, workspace)
}

/** Longer than a request and the commit of its result can take in a calm world. */
const LATE_ANSWER_MS = 2 * MINUTE_MS

function enableAll(world: Scene): void {
  const { agenda, store } = world
  for (const lane of store.lanes.values()) if (!lane.enabled) store.enable(agenda.now, lane.lane)
  world.workChanged = true
}

/** The plan changes or a new month starts. */
function allow(world: Scene, workspace: string, to: { readonly max: number | null; readonly turned: boolean }): void {
  // oxlint-disable-line max-params -- the world, the workspace, and the change
  const { agenda, store } = world
  world.count('allowances')
  store.allow(agenda.now, workspace, to)
  releaseSoon(world, workspace)
}

/** Two processes release the waiting deliveries, each at its own time. */
function releaseSoon(world: Scene, workspace: string): void {
  const { agenda, plan, rng } = world
  if (plan.allowances.length === 0) return
  for (let process = 0; process < 2; process += 1) agenda.after(rng.between(0, 2_000), () => release(world, workspace))
}

function release(world: Scene, workspace: string): void {
  const { agenda, invariants, rng, store, plan } = world
  // A suspended workspace does nothing. Its turn comes when it is reinstated.
  if (store.suspended.has(workspace)) return
  // The store refused it, or its process is dead: the next run finds the deliveries anyway.
  if (rng.chance(plan.store.refused)) {
    agenda.after(2_000, () => release(world, workspace))
    return
  }
  const lanes = store.letGo(agenda.now, workspace)
  invariants.released(workspace)
  if (lanes.length === 0) return
  world.count('releases', lanes.length)
  world.notify('hinted', [...new Set(lanes)])
}

/** Short, because a lane whose first delivery waits for the month is checked in vain all the time. */
const MONTH_MS = 10 * MINUTE_MS

/** In a calm world, month follows month until no delivery waits. */
function turnMonths(world: Scene, workspace: string): void {
  const { agenda, invariants, rng, store } = world
  allow(world, workspace, { max: rng.pick([5, 40, null]), turned: true })
  agenda.after(MONTH_MS, () => {
    if (!invariants.isAwaited(workspace) && store.allowances.hasRoom(workspace)) return
    turnMonths(world, workspace)
  })
}

/** Events that can hit an attempt between its start and the start of its request. */
export function spite(world: Scene, worker: Player, lane: string): void {
  const { agenda, rng, store } = world
  const act = rng.pick([
    () => crash(world, worker),
    () => worker.pause(rng.between(1_000, 30_000)),
    () => disable(world, lane),
    () => suspend(world, store.lane(lane).workspace),
    () => rotate(world, lane, 0),
  ])
  world.count('spites')
  agenda.after(rng.between(0, 10), act)
  if (rng.chance(0.5)) agenda.after(rng.between(0, 10), () => worker.pause(rng.between(1_000, 30_000)))
}

/** The worker loses everything in its memory, and starts again some time later. */
export function crash(world: Scene, worker: Player): void {
  worker.crash()
  world.agenda.after(world.rng.between(10, 2 * MINUTE_MS), () => worker.start())
}

function suspend(world: Scene, workspace: string): void {
  const { agenda, rng, store } = world
  world.count('suspensions')
  store.suspend(agenda.now, workspace)
  world.notify('disabled', lanesOf(world, workspace))
  moveLater(world, workspace, true)
  agenda.after(rng.between(MINUTE_MS / 60, 60 * MINUTE_MS), () => reinstate(world, workspace))
}

function reinstate(world: Scene, workspace: string): void {
  world.store.reinstate(world.agenda.now, workspace)
  moveLater(world, workspace, false)
  releaseSoon(world, workspace)
}

const lanesOf = ({ store }: Scene, workspace: string): string[] =>
  [...store.lanes.values()].filter((lane) => lane.workspace === workspace).map(({ lane }) => lane)

/**
 * Each destination has its own commit, some time after the suspension. Sometimes the process dies midway, and the
 * sweeps do the rest.
 */
function moveLater(world: Scene, workspace: string, disabled: boolean): void {
  // oxlint-disable-line max-params -- the world, the workspace or lane, and the details
  const { agenda, rng, store } = world
  let afterMs = 0
  for (const lane of lanesOf(world, workspace)) {
    if (rng.chance(0.1)) return
    afterMs += rng.between(0, rng.pick([10, 10, 3_000]))
    agenda.after(afterMs, () => {
      world.count('late moves')
      store.moveWaiting(agenda.now, lane, { disabled })
      if (disabled) world.workChanged = true
      else world.notify('hinted', [lane])
    })
  }
}

function disable(world: Scene, lane: string): void {
  const { agenda, rng, store } = world
  world.count('disablings')
  store.disable(agenda.now, lane)
  world.notify('disabled', [lane])
  agenda.after(rng.between(MINUTE_MS / 60, 60 * MINUTE_MS), () => {
    store.enable(agenda.now, lane)
    world.notify('changed', [lane])
  })
}

/** One process replaces a secret and knows the new one immediately. The others may or may not be notified. */
function rotate(world: Scene, lane: string, overlapMs: number): void {
  // oxlint-disable-line max-params -- the world, the workspace or lane, and the details
  const { agenda, rng, secrets } = world
  world.count('rotations')
  secrets.rotate(lane, overlapMs, agenda.now)
  rng.pick(world.workers).hint('changed', [lane])
  world.notify('changed', [lane])
}

function replay(world: Scene): void {
  const row = world.anyDelivery()
  if (row === undefined || !world.store.replay(world.agenda.now, row.delivery_id)) return
  world.count('replays')
  world.notify('hinted', [row.lane])
}

/** Replays all ended deliveries of a lane at a pace. */
function replayMany(world: Scene): void {
  const { agenda, rng, store } = world
  const lane = rng.pick([...store.lanes.values()])
  const gapMs = rng.pick([0, 20, 1_000])
  const replayed = lane.deliveries.filter((row, index) =>
    store.replay(agenda.now, row.delivery_id, { inMs: index * gapMs }),
  )
  if (replayed.length === 0) return
  world.count('bulk replays')
  world.notify('hinted', [lane.lane])
}

function retry(world: Scene): void {
  const row = world.anyDelivery()
  if (row === undefined || !world.store.retry(world.agenda.now, row.delivery_id)) return
  world.count('manual retries')
  world.notify('hinted', [row.lane])
}

/** A person requests a probe of a lane whose breaker is open. */
function probe(world: Scene): void {
  const { agenda, rng, store } = world
  const open = [...store.lanes.values()].filter(({ memory }) => memory?.breaker?.state === 'open')
  if (open.length === 0) return
  const { lane } = rng.pick(open)
  if (!probeLane(store, agenda.now, lane)) return
  world.count('manual probes')
  world.notify('changed', [lane])
}

function cancel(world: Scene): void {
  const row = world.anyDelivery()
  if (row !== undefined && world.store.cancel(world.agenda.now, row.delivery_id)) world.count('cancels')
}

/** Clogs a random subset of links one by one and frees them in another order. This finds faults that single faults do not. */
function swizzle(world: Scene): void {
  const { agenda, rng } = world
  const links = [...world.workers, ...world.receivers.values()].filter(() => rng.chance(0.6))
  const stepMs = rng.between(1_000, 20_000)
  world.count('swizzles')
  for (const [index, link] of rng.shuffled(links).entries()) {
    agenda.after(index * stepMs, () => (link.clogged = !world.calm))
  }
  for (const [index, link] of rng.shuffled(links).entries()) {
    agenda.after((links.length + index) * stepMs, () => (link.clogged = false))
  }
}
