/** On adversarial texts, the engine's own search takes time of text × needle once the needle is longer than this. */
const NATIVE_NEEDLE_CHARS_MAX = 200

/** Searches any text for any needle in time that is linear in both. A long needle is prepared once, on the first text. */
export function compileSearch(needle: string): (text: string) => boolean {
  if (needle.length <= NATIVE_NEEDLE_CHARS_MAX) return (text) => text.includes(needle)
  let search: LongSearch | undefined
  return (text) => {
    if (text.length < needle.length) return false
    search ??= new LongSearch(needle)
    return search.isIn(text)
  }
}

/** The search of Knuth, Morris and Pratt: it never goes back in the text. */
export class LongSearch {
  /** The number of character comparisons, in all texts. */
  compared = 0
  readonly #needle: string
  /** For each prefix of the needle, the longest shorter prefix that it also ends with. */
  readonly #borders: Int32Array

  constructor(needle: string) {
    this.#needle = needle
    this.#borders = new Int32Array(needle.length)
    let border = 0
    for (let at = 1; at < needle.length; at += 1) {
      border = this.#extended(border, needle.charCodeAt(at))
      this.#borders[at] = border
    }
  }

  isIn(text: string): boolean {
    let matched = 0
    for (let at = 0; at < text.length; at += 1) {
      matched = this.#extended(matched, text.charCodeAt(at))
      if (matched === this.#needle.length) return true
    }
    return false
  }

  /** How much of the needle matches after one more character. */
  #extended(matched: number, code: number): number {
    let length = matched
    for (;;) {
      this.compared += 1
      if (this.#needle.charCodeAt(length) === code) return length + 1
      if (length === 0) return 0
      length = this.#borders[length - 1] ?? 0
    }
  }
}

/**
 * Text for a comparison without regard to case. Each character is replaced on its own, so a part of a text is a part of
 * its folded text.
 */
export const folded = (text: string): string => text.toLowerCase().replaceAll('ς', 'σ')

const ESCAPE = /\\(?:u([0-9a-fA-F]{4})|(.))/gs
const CONTROLS: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' }

/** The text of a JSON document with each escape replaced by its character. */
export function unescaped(json: string): string {
  return json.replaceAll(ESCAPE, (_escape, code: string | undefined, letter: string | undefined) =>
    code === undefined ? (CONTROLS[letter ?? ''] ?? letter ?? '') : String.fromCharCode(Number.parseInt(code, 16)),
  )
}
