import { ServiceError } from '@postroad/sdk/service-error'

/** Asks the server which texts match a pattern; returns one answer for each text. */
export type AskPatterns = (pattern: string, texts: readonly string[]) => Promise<readonly boolean[]>

const GATHERED_MS = 200
const AGAIN_MS = 5_000
const TEXTS_MAX = 500
const KNOWN_MAX = 20_000

/**
 * Whether texts match patterns, according to the server. Its engine runs every pattern of the contract in bounded time;
 * that of the browser takes forever for some. The page asks about each text once, and about many texts together.
 */
export class Patterns {
  /** Grows with each new answer. */
  version = 0
  readonly #ask: AskPatterns
  readonly #known = new Map<string, boolean>()
  readonly #waiting = new Map<string, Set<string>>()
  readonly #listeners = new Set<() => void>()
  #isDue = false

  constructor(ask: AskPatterns) {
    this.#ask = ask
  }

  subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Returns undefined until the server answers. */
  matches = (pattern: string, text: string): boolean | undefined => {
    const known = this.#known.get(keyOf(pattern, text))
    if (known === undefined) this.#wait(pattern, text)
    return known
  }

  #wait(pattern: string, text: string): void {
    const texts = this.#waiting.get(pattern) ?? new Set<string>()
    this.#waiting.set(pattern, texts.add(text))
    this.#askAfter(GATHERED_MS)
  }

  #askAfter(ms: number): void {
    if (this.#isDue) return
    this.#isDue = true
    setTimeout(() => void this.#askAll(), ms)
  }

  async #askAll(): Promise<void> {
    const waiting = [...this.#waiting].map(([pattern, texts]) => [pattern, [...texts].slice(0, TEXTS_MAX)] as const)
    let later = GATHERED_MS
    for (const [pattern, texts] of waiting) {
      try {
        // oxlint-disable-next-line no-await-in-loop -- one question at a time: the server counts them
        const verdicts = await this.#ask(pattern, texts)
        texts.forEach((text, index) => this.#learn(pattern, text, verdicts[index]))
      } catch (error) {
        // A pattern that the server refuses matches nothing. After any other error the page asks about the texts again.
        if (error instanceof ServiceError && error.status === 400) this.#waiting.delete(pattern)
        later = AGAIN_MS
      }
    }
    this.#isDue = false
    // `later` comes first, because a listener can ask for more immediately.
    if (this.#waiting.size > 0) this.#askAfter(later)
    this.version += 1
    for (const listener of this.#listeners) listener()
  }

  #learn(pattern: string, text: string, verdict: boolean | undefined): void {
    const texts = this.#waiting.get(pattern)
    texts?.delete(text)
    if (texts?.size === 0) this.#waiting.delete(pattern)
    if (verdict === undefined) return
    if (this.#known.size >= KNOWN_MAX) this.#known.clear()
    this.#known.set(keyOf(pattern, text), verdict)
  }
}

const keyOf = (pattern: string, text: string): string => `${pattern}\n${text}`
