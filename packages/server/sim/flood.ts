/** Times in which some workspaces have more work than all slots can take, and the others have a single delivery. */
import type { SimIngest } from './ingest.ts'
import type { Scene } from './scene.ts'

const FLOOD_EVENTS = 25
const FLOOD_MS = 2_000
const VICTIMS_EVERY_MS = 5_000
const VICTIMS_MS = 120_000

/** The lanes of these workspaces get a long backlog, and those of all others one delivery every few seconds. */
export function scheduleFlood(world: Scene, { ingest, from }: { ingest: SimIngest; from: number }): void {
  const { agenda, plan, rng } = world
  const greedy = plan.lanes.filter(({ isGreedy }) => isGreedy).map(({ lane }) => lane)
  const others = plan.lanes.filter(({ isGreedy }) => !isGreedy).map(({ lane }) => lane)
  agenda.at(from, () => world.count('floods'))
  for (let event = 0; event < FLOOD_EVENTS; event += 1)
    agenda.at(from + rng.between(0, FLOOD_MS), () => ingest.receive(greedy))
  for (let ms = 0; ms < VICTIMS_MS; ms += VICTIMS_EVERY_MS)
    agenda.at(from + ms, () => ingest.receive(rng.shuffled(others).slice(0, rng.int(1, 2))))
}
