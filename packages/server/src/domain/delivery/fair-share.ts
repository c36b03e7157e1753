/** The other living owners of lanes, from their own reports: how many there are, and how many lanes they have together. */
export interface Others {
  readonly owners: number
  readonly lanes: number
}

export const NO_OTHERS: Others = { owners: 0, lanes: 0 }

/** The process of an owner, which is named `process/epoch`. An earlier epoch of the same process is not another owner. */
export function processOf(owner: string): string {
  return owner.split('/', 1)[0] ?? owner
}

/** How many lanes one owner should have at most when all known lanes are shared evenly. */
export function fairShare(lanes: number, others: Others): number {
  return Math.ceil((lanes + others.lanes) / (1 + others.owners))
}

/** How many of these free lanes an owner may take so that enough remain for the others. */
export function fairPart({ held, free, others }: { held: number; free: number; others: Others }): number {
  return Math.min(free, Math.max(0, fairShare(held + free, others) - held))
}
