/** The slots for requests of one process. `reserved` of them are only for workspaces that have none in use. */
export interface SlotRules {
  readonly all: number
  readonly reserved: number
  /** After a workspace takes one slot more, it has at most this many times the number of slots that are left. */
  readonly share: number
}

/** How many slots are in use: in the process, by one workspace, and by one of its destinations. */
export interface SlotsInUse {
  readonly all: number
  readonly ofWorkspace: number
  readonly ofLane: number
  /** How many it takes; 1 when absent. */
  readonly wanted?: number
}

/**
 * True when a destination may take one more slot. The share of a workspace shrinks with each slot that anyone takes, and grows with
 * each that is freed. So a workspace alone can use most slots, and there are always some for the next one. Within the share of a
 * workspace, the same is true for its destinations. docs/adr/0358 has the numbers.
 */
export function mayTakeSlot({ all, ofWorkspace, ofLane, wanted = 1 }: SlotsInUse, rules: SlotRules): boolean {
  if (ofWorkspace === 0) return all + wanted <= rules.all || all === 0
  const leftForAll = rules.all - rules.reserved - (all + wanted)
  const leftForWorkspace = rules.share * leftForAll - (ofWorkspace + wanted)
  if (leftForAll < 0 || leftForWorkspace < 0) return false
  return ofLane === 0 || ofLane + wanted <= rules.share * leftForWorkspace
}
