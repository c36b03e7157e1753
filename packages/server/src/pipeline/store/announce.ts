import type { Stored } from '../types.ts'

/** Wakes who may have work after a commit: the lanes of the new deliveries. A hint only; sweeps find what it misses. */
export type Announce = (stored: Stored) => void

export type Lane = { readonly workspaceId: string; readonly destinationId: string }

export function createAnnounce(wake: (lanes: readonly Lane[]) => void): Announce {
  return ({ event }) => {
    const { workspaceId } = event.verified.receiver.plan
    const lanes = event.deliveries.filter((delivery) => !delivery.paused).map((delivery) => ({ workspaceId, destinationId: delivery.destinationId }))
    if (lanes.length > 0) wake(lanes)
  }
}
