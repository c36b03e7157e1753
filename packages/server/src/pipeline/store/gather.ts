export type GatherOptions<Item> = {
  /** Notifies the other processes; undefined when there are none. */
  readonly notify: ((items: readonly Item[]) => void) | undefined
  /** Runs `work` a few milliseconds later. */
  readonly soon: (work: () => void) => void
}

/** A NOTIFY payload is limited to 8,000 bytes, and an item takes about 110. Sweeps make up for the items beyond. */
const ITEMS_MAX = 64

/** Gathers items by key, so that the other processes get one message about many commits. */
export function createGather<Item>({ notify, soon }: GatherOptions<Item>): (key: string, item: Item) => void {
  const pending = new Map<string, Item>()
  const flush = (): void => {
    const items = [...pending.values()].slice(0, ITEMS_MAX)
    pending.clear()
    notify?.(items)
  }
  return (key, item) => {
    if (notify === undefined) return
    if (pending.size === 0) soon(flush)
    pending.set(key, item)
  }
}
