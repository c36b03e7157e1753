/**
 * Our own JSON parser, for features that V8's parser lacks: it preserves the digits of numbers, and always reports the
 * position of an error.
 */

import { setOwn } from './own-property.ts'

/** The value, or the offset of the first character at which the text stops being JSON. */
export type ReadJson = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly at: number }

/**
 * Parses JSON as `JSON.parse` does, with the numbers that `toNumber` makes from their source. The caller has limited the depth.
 * It is slower than V8's parser, so it is used only where that one is not enough.
 */
export function readJson(text: string, toNumber: (source: string) => unknown): ReadJson {
  const reader = new Reader(text, toNumber)
  const value = reader.value()
  if (value !== FAULT) reader.space()
  return value === FAULT || reader.at < text.length ? { ok: false, at: reader.at } : { ok: true, value }
}

const FAULT = Symbol('fault')
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y
const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y
const LITERALS: readonly (readonly [string, unknown])[] = [
  ['true', true],
  ['false', false],
  ['null', null],
]
const QUOTE = 0x22
const BACKSLASH = 0x5c

/** Each method leaves `at` after the text that it read, or on the error. */
class Reader {
  at = 0
  readonly #text: string
  readonly #toNumber: (source: string) => unknown

  constructor(text: string, toNumber: (source: string) => unknown) {
    this.#text = text
    this.#toNumber = toNumber
  }

  value(): unknown {
    this.space()
    if (this.#skip('{')) return this.#object()
    if (this.#skip('[')) return this.#list()
    if (this.#text.charCodeAt(this.at) === QUOTE) return this.#string()
    const source = this.#take(NUMBER)
    return source === undefined ? this.#literal() : this.#toNumber(source)
  }

  space(): void {
    for (;;) {
      const code = this.#text.charCodeAt(this.at)
      if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return
      this.at += 1
    }
  }

  #object(): unknown {
    const object: Record<string, unknown> = {}
    this.space()
    if (this.#skip('}')) return object
    for (;;) {
      this.space()
      const key = this.#string()
      if (key === FAULT) return FAULT
      this.space()
      if (!this.#skip(':')) return FAULT
      const value = this.value()
      if (value === FAULT) return FAULT
      setOwn(object, key, value)
      this.space()
      if (this.#skip('}')) return object
      if (!this.#skip(',')) return FAULT
    }
  }

  #list(): unknown {
    const list: unknown[] = []
    this.space()
    if (this.#skip(']')) return list
    for (;;) {
      const value = this.value()
      if (value === FAULT) return FAULT
      list.push(value)
      this.space()
      if (this.#skip(']')) return list
      if (!this.#skip(',')) return FAULT
    }
  }

  #string(): string | typeof FAULT {
    const start = this.at
    if (!this.#skip('"')) return FAULT
    let escaped = false
    while (this.at < this.#text.length) {
      const code = this.#text.charCodeAt(this.at)
      if (code < 0x20) return FAULT
      if (code === BACKSLASH) {
        if (this.#take(ESCAPE) === undefined) return FAULT
        escaped = true
        continue
      }
      this.at += 1
      if (code === QUOTE)
        return escaped ? unescape(this.#text.slice(start, this.at)) : this.#text.slice(start + 1, this.at - 1)
    }
    return FAULT
  }

  #literal(): unknown {
    for (const [word, value] of LITERALS) {
      if (this.#text.startsWith(word, this.at)) {
        this.at += word.length
        return value
      }
    }
    return FAULT
  }

  #skip(letter: string): boolean {
    if (this.#text[this.at] !== letter) return false
    this.at += 1
    return true
  }

  #take(token: RegExp): string | undefined {
    token.lastIndex = this.at
    if (!token.test(this.#text)) return undefined
    const source = this.#text.slice(this.at, token.lastIndex)
    this.at = token.lastIndex
    return source
  }
}

function unescape(literal: string): string {
  return String(JSON.parse(literal))
}
