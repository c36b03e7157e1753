/**
 * The keys that the records of an endpoint have. They are learned record by record, and forgotten when the last record with the
 * key is gone.
 */

export type KnownColumns = {
  /** Each key, and the newest submission whose record has it. */
  readonly lastSeen: Map<string, string>
  chars: number
  /** The newest submission whose record has keys that did not fit; null: no key is missing here. */
  missedAt: string | null
}

/** The cost of a key besides its characters. */
const CHARS_PER_KEY = 16

export function knownColumns(
  lastSeen: Iterable<readonly [string, string]> = [],
  missedAt: string | null = null,
): KnownColumns {
  const known: KnownColumns = { lastSeen: new Map(), chars: 0, missedAt }
  for (const [key, at] of lastSeen) learn(known, { keys: [key], complete: true, at, charsMax: Infinity })
  return known
}

/** `complete`: whether these are all keys of the record. */
type Learned = {
  readonly keys: readonly string[]
  readonly complete: boolean
  readonly at: string
  readonly charsMax: number
}

/** Adds the keys of a submission's record. */
export function learn(known: KnownColumns, { keys, complete, at, charsMax }: Learned): void {
  let missed = !complete
  for (const key of keys) {
    const before = known.lastSeen.get(key)
    if (before !== undefined) {
      if (before < at) known.lastSeen.set(key, at)
      continue
    }
    const cost = key.length + CHARS_PER_KEY
    if (known.chars + cost > charsMax) {
      missed = true
      continue
    }
    known.chars += cost
    known.lastSeen.set(key, at)
  }
  if (missed && (known.missedAt ?? '') < at) known.missedAt = at
}

/** Forgets keys that only records before the oldest retained submission had; null: no submission is retained. */
export function forget(known: KnownColumns, oldest: string | null): void {
  for (const [key, at] of known.lastSeen) {
    if (oldest !== null && at >= oldest) continue
    known.lastSeen.delete(key)
    known.chars -= key.length + CHARS_PER_KEY
  }
  if (known.missedAt !== null && (oldest === null || known.missedAt < oldest)) known.missedAt = null
}

/** Returns the keys of newer records first. */
export function keysOf({ lastSeen }: KnownColumns): readonly string[] {
  const entries = [...lastSeen].toSorted(([, a], [, b]) => (a === b ? 0 : a > b ? -1 : 1))
  return entries.map(([key]) => key)
}
