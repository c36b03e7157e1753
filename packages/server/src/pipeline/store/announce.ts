import type { Stored } from '../types.ts'
import { createGather, type GatherOptions } from './gather.ts'

/** Wakes the lanes of the new deliveries after a commit. Only a hint: sweeps find lanes that it misses. */
export type Announce = (stored: Stored) => void

export type Lane = { readonly workspaceId: string; readonly destinationId: string }

export type AnnounceOptions = GatherOptions<Lane> & {
  /** The sender of this process, when it has one. */
  readonly hint: ((lanes: readonly Lane[]) => void) | undefined
}

/** Notifies this process immediately, and the others a few milliseconds later. */
export function createAnnounce({ hint, ...others }: AnnounceOptions): Announce {
  const gather = createGather(others)
  return ({ event, started }) => {
    const { workspaceId } = event.verified.receiver.plan
    const lanes = event.deliveries
      .filter(({ id, pauseReason }) => pauseReason === null && started?.has(id) !== true)
      .map(({ destinationId }) => ({ workspaceId, destinationId }))
    if (lanes.length === 0) return
    hint?.(lanes)
    for (const lane of lanes) gather(lane.destinationId, lane)
  }
}
