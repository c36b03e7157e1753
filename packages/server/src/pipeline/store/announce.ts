import type { Stored } from '../types.ts'

/** Wakes who may have work after a commit: the lanes of the new deliveries. A hint only; sweeps find what it misses. */
export type Announce = (stored: Stored) => void

export type Lane = { readonly workspaceId: string; readonly destinationId: string }

export type AnnounceOptions = {
  /** The sender of this process, when it has one. */
  readonly hint: ((lanes: readonly Lane[]) => void) | undefined
  /** The other processes, when there are any. */
  readonly tell: ((lanes: readonly Lane[]) => void) | undefined
  readonly soon: (work: () => void) => void
}

/** A payload of NOTIFY holds 8,000 bytes; a lane takes about 110. */
const TOLD_MAX = 64

/** This process hears at once; the others hear of many events in one message, a few milliseconds later. */
export function createAnnounce({ hint, tell, soon }: AnnounceOptions): Announce {
  const untold = new Map<string, Lane>()
  const flush = (): void => {
    const lanes = [...untold.values()].slice(0, TOLD_MAX)
    untold.clear()
    tell?.(lanes)
  }
  return ({ event }) => {
    const { workspaceId } = event.verified.receiver.plan
    const lanes = event.deliveries
      .filter((delivery) => delivery.pauseReason === null)
      .map(({ destinationId }) => ({ workspaceId, destinationId }))
    if (lanes.length === 0) return
    hint?.(lanes)
    if (tell === undefined) return
    if (untold.size === 0) soon(flush)
    for (const lane of lanes) untold.set(lane.destinationId, lane)
  }
}
