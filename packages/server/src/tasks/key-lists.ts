/** Lists of keys that share most of them, in a form that is short to copy: each key once, and each list as places of keys. */
export type KeyLists = { readonly keys: readonly string[]; readonly lists: readonly Uint32Array[] }

/** The keys of one of the lists. */
export const keysOfList = ({ keys, lists }: KeyLists, at: number): readonly string[] =>
  Array.from(lists[at] ?? [], (place) => keys[place] ?? '')

/** Gathers lists of keys. The keys of all lists have a total length; a list that exceeds it has only its first keys. */
export class KeyGatherer {
  readonly keys: string[] = []
  readonly lists: Uint32Array[] = []
  readonly #places = new Map<string, number>()
  #charsLeft: number

  constructor(charsMax: number) {
    this.#charsLeft = charsMax
  }

  /** Returns whether all keys of the list fit. */
  add(keys: readonly string[]): boolean {
    const places: number[] = []
    for (const key of keys) {
      const place = this.#places.get(key) ?? this.#placeOf(key)
      if (place !== undefined) places.push(place)
    }
    this.lists.push(Uint32Array.from(places))
    return places.length === keys.length
  }

  #placeOf(key: string): number | undefined {
    if (key.length > this.#charsLeft) return undefined
    this.#charsLeft -= key.length
    this.#places.set(key, this.keys.length)
    return this.keys.push(key) - 1
  }
}
