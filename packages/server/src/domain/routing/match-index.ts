import type { Counting } from '../work-budget.ts'
import { keysOf, type CompareMode, type CompiledConditions, type Need } from './condition.ts'
import type { EventSource } from './event-path.ts'
import { takesDataset } from './takes-dataset.ts'

/** A rule, a destination or a starter, as far as its choice needs. */
export type Matchable = {
  readonly id: string
  readonly conditions: CompiledConditions
  /** undefined: it takes the records of every dataset. */
  readonly datasets?: ReadonlySet<string> | null
}

export type Matching = {
  /** The dataset of the record; undefined: the caller asks about no record. */
  readonly dataset: string | undefined
  readonly source: EventSource
  readonly budget: Counting
}

/** Fewer items are tested one by one. */
const INDEXED_FROM = 8
/** An item with more datasets, or a condition with more values, would take more room than it saves. */
const DATASETS_EACH_MAX = 16
const KEYS_EACH_MAX = 64
/** The cost of looking up the value at a path. */
const LOOKUP_WORK = 64

/**
 * Items that an event can match, found by what their conditions need: a dataset, a value at a path, any value at a path. It
 * chooses candidates only; the conditions of each candidate are tested. So it gives exactly what testing all items gives.
 */
export class MatchIndex<Item extends Matchable> {
  /** All of them, in the order of their ids while they are few. */
  readonly items: readonly Item[]
  readonly #groups: ReadonlyMap<string | undefined, Group<Item>> | undefined

  constructor(items: readonly Item[]) {
    const areFew = items.length < INDEXED_FROM
    this.items = areFew ? items.toSorted(byId) : items
    this.#groups = areFew ? undefined : groupsOf(items)
  }

  /** The items that match, in the order of their ids. */
  matching(of: Matching): readonly Item[] {
    return this.candidates(of).filter(
      ({ datasets, conditions }) => takes(datasets, of) && conditions.firstFailure(of.source, of.budget) === undefined,
    )
  }

  /** A superset of the items that match, in the order of their ids. */
  candidates(of: Matching): readonly Item[] {
    if (this.#groups === undefined) return this.items
    const found: Item[] = []
    this.#groups.get(undefined)?.find(of, found)
    if (of.dataset !== undefined) this.#groups.get(of.dataset)?.find(of, found)
    if (found.length < 2) return found
    found.sort(byId)
    // A number can be found under two of its texts.
    return found.filter((item, at) => item !== found[at - 1])
  }
}

function takes(datasets: Matchable['datasets'], { dataset }: Matching): boolean {
  return dataset === undefined || datasets === undefined || takesDataset(datasets, dataset)
}

const byId = (a: Matchable, b: Matchable): number => (a.id < b.id ? -1 : a.id > b.id ? 1 : 0)

/** The items of one dataset; under undefined, those that take every dataset. */
function groupsOf<Item extends Matchable>(items: readonly Item[]): ReadonlyMap<string | undefined, Group<Item>> {
  const members = new Map<string | undefined, Item[]>()
  for (const item of items) {
    const { datasets } = item
    const isNamed = datasets !== undefined && datasets !== null && datasets.size <= DATASETS_EACH_MAX
    for (const dataset of isNamed ? datasets : [undefined]) listed(members, dataset).push(item)
  }
  return new Map([...members].map(([dataset, those]) => [dataset, new Group(those)]))
}

type Place<Item> = {
  readonly read: Need['read']
  readonly mode: CompareMode
  readonly byKey: Map<unknown, Item[]>
  /** Items that need any value here. */
  readonly present: Item[]
}

class Group<Item extends Matchable> {
  readonly #always: Item[] = []
  readonly #places = new Map<string, Place<Item>>()

  constructor(items: readonly Item[]) {
    const counts = countsOf(items)
    for (const item of items) this.#add(item, rarestOf(item, counts))
  }

  #add(item: Item, need: Need | undefined): void {
    if (need === undefined) {
      this.#always.push(item)
      return
    }
    const { mode } = item.conditions
    const place: Place<Item> = this.#places.get(need.path) ?? { read: need.read, mode, byKey: new Map(), present: [] }
    this.#places.set(need.path, place)
    const keys = indexable(need)
    if (keys === undefined) place.present.push(item)
    else for (const key of keys) listed(place.byKey, key).push(item)
  }

  find({ source, budget }: Matching, found: Item[]): void {
    for (const item of this.#always) found.push(item)
    for (const { read, mode, byKey, present } of this.#places.values()) {
      const value = read(source)
      budget.spend(LOOKUP_WORK + (typeof value === 'string' ? value.length : 0))
      if (value === undefined) continue
      for (const item of present) found.push(item)
      for (const key of keysOf(value, mode)) for (const item of byKey.get(key) ?? []) found.push(item)
    }
  }
}

const indexable = ({ keys }: Need): Need['keys'] =>
  keys === undefined || keys.length > KEYS_EACH_MAX ? undefined : keys

const NO_KEYS: readonly unknown[] = []

type Counts = ReadonlyMap<string, ReadonlyMap<unknown, number>>

/** How many items need each value at each path. */
function countsOf(items: readonly Matchable[]): Counts {
  const counts = new Map<string, Map<unknown, number>>()
  for (const { conditions } of items) {
    for (const need of conditions.needs) {
      const at = counts.get(need.path) ?? new Map<unknown, number>()
      counts.set(need.path, at)
      for (const key of indexable(need) ?? NO_KEYS) at.set(key, (at.get(key) ?? 0) + 1)
    }
  }
  return counts
}

/** The need that leaves the fewest other candidates beside the item. */
function rarestOf({ conditions: { needs } }: Matchable, counts: Counts): Need | undefined {
  if (needs.length < 2) return needs[0]
  let rarest = needs[0]
  let fewest = Infinity
  for (const need of needs) {
    const keys = indexable(need)
    const others = keys?.reduce<number>((sum, key) => sum + (counts.get(need.path)?.get(key) ?? 0), 0) ?? Infinity
    if (others >= fewest) continue
    rarest = need
    fewest = others
  }
  return rarest
}

function listed<Key, Value>(lists: Map<Key, Value[]>, key: Key): Value[] {
  const found = lists.get(key)
  if (found !== undefined) return found
  const made: Value[] = []
  lists.set(key, made)
  return made
}
