import { closeSync, openSync, writeSync } from 'node:fs'

type Watcher<Entry> = { readonly matches: (entry: Entry) => boolean; readonly seen: (entry: Entry) => void }

/** The observations of one party, in order: in memory for the checker, and line by line in a file for people. */
export class Ledger<Entry extends object> {
  readonly entries: Entry[] = []
  readonly #file: number
  readonly #watchers = new Set<Watcher<Entry>>()

  constructor(path: string) {
    this.#file = openSync(path, 'a')
  }

  note(entry: Entry): void {
    this.entries.push(entry)
    writeSync(this.#file, `${JSON.stringify(entry)}\n`)
    for (const watcher of this.#watchers) if (watcher.matches(entry)) watcher.seen(entry)
  }

  /** The next matching entry from now on; undefined when none comes within `patienceMs`. Rejects when `signal` aborts. */
  async next(
    matches: (entry: Entry) => boolean,
    within: { readonly patienceMs: number; readonly signal: AbortSignal },
  ): Promise<Entry | undefined> {
    within.signal.throwIfAborted()
    const { promise, resolve, reject } = Promise.withResolvers<Entry | undefined>()
    const watcher = { matches, seen: resolve }
    const aborted = (): void => reject(within.signal.reason)
    const timer = setTimeout(resolve, within.patienceMs, undefined)
    within.signal.addEventListener('abort', aborted)
    this.#watchers.add(watcher)
    try {
      return await promise
    } finally {
      clearTimeout(timer)
      within.signal.removeEventListener('abort', aborted)
      this.#watchers.delete(watcher)
    }
  }

  close(): void {
    closeSync(this.#file)
  }
}
