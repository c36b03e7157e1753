/** Times in which every destination has work, so that the processes must share the lanes. */

import type { SimIngest } from './ingest.ts'
import type { Scene } from './scene.ts'

/** Often enough that no lane is given back as idle, whether or not a hint arrives. */
const EVENTS_EVERY_MS = 1_000
const RUSH_MS = 40_000
const JOINED_MS = 20_000
const CROWD_MS = 100_000
const LOOK_EVERY_MS = 2_000

/** Amid all faults: when something breaks during a handover, no delivery may be lost, sent twice or sent too often. */
export function scheduleRush(world: Scene, ingest: SimIngest): void {
  if (world.plan.rushAt !== null) crowd(world, { ingest, from: world.plan.rushAt, ms: RUSH_MS })
}

/** In a calm world one process owns all lanes, the others join it, and then each of them has its share. */
export function scheduleCrowd(world: Scene, { ingest, from }: { ingest: SimIngest; from: number }): void {
  const { agenda, invariants } = world
  const [first, ...others] = world.workers
  crowd(world, { ingest, from, ms: CROWD_MS })
  agenda.at(from, () => {
    world.count('crowds')
    for (const worker of others) worker.crash()
    first?.start()
  })
  agenda.at(from + JOINED_MS, () => {
    for (const worker of others) worker.start()
    invariants.shares.watch(true)
  })
  for (let ms = JOINED_MS; ms < CROWD_MS; ms += LOOK_EVERY_MS) agenda.at(from + ms, () => invariants.shared(agenda.now))
  agenda.at(from + CROWD_MS, () => invariants.shares.watch(false))
}

function crowd(world: Scene, { ingest, from, ms }: { ingest: SimIngest; from: number; ms: number }): void {
  const { agenda, plan } = world
  // A lane with long requests cannot be handed over while they last.
  const lanes = plan.lanes.filter(({ nature, hopeless }) => nature !== 'slow' && !hopeless).map(({ lane }) => lane)
  agenda.at(from, () => {
    world.crowded = true
    world.workChanged = true
  })
  for (let at = 0; at < ms; at += EVENTS_EVERY_MS) agenda.at(from + at, () => ingest.receive(lanes))
  agenda.at(from + ms, () => (world.crowded = false))
}
