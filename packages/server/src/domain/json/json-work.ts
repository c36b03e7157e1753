import type { Counting } from '../work-budget.ts'
import { endOfNumber, endOfString, isDigit, isRawNumber, losesDigits, stringifyJson } from './json-text.ts'

/**
 * The cost of JSON beyond its characters, in characters: each value, each value in a text where a number may lose digits, each
 * new name.
 */
const VALUE_WORK = 32
const LOSSLESS_VALUE_WORK = 128
const NEW_NAME_WORK = 256
const CHUNK_CHARS = 65_536

/** The cost of a list or an object without nested ones, and of each of its members. */
const FLAT_WORK = 96
const FLAT_MEMBER_WORK = 16
const FLAT_MEMBERS_MAX = 256

/** The cost of parsing this text, computed before it is parsed. Infinity as soon as it certainly exceeds `workMax`. */
export function readingWork(text: string, workMax: number): number {
  const names = new Names()
  let values = 1
  let lossless = false
  for (let at = 0; at < text.length; at += 1) {
    if (values * VALUE_WORK + names.count * NEW_NAME_WORK > workMax) return Infinity
    const code = text.charCodeAt(at)
    if (code === 0x22) {
      const end = endOfString(text, at)
      if (isName(text, end)) names.add(text, at, end)
      at = end
    } else if (beginsValue(code)) values += 1
    else if (code === 0x2d || isDigit(code)) {
      const end = endOfNumber(text, at)
      lossless ||= losesDigits(text, at, end)
      at = end - 1
    }
  }
  return text.length + names.count * NEW_NAME_WORK + values * (lossless ? LOSSLESS_VALUE_WORK : VALUE_WORK)
}

/** A comma, a colon, or the start of a list or an object. */
const beginsValue = (code: number): boolean => code === 0x2c || code === 0x3a || code === 0x5b || code === 0x7b

const NAMES_BITS = 16

/** Counts different names by a hash. Two names with the same hash count once, which does no harm. */
class Names {
  count = 0
  #seen: Uint8Array | undefined

  add(text: string, start: number, end: number): void {
    let hash = 0
    for (let at = start + 1; at < end; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01_00_01_93)
    const place = (hash ^ (hash >>> NAMES_BITS)) & ((1 << NAMES_BITS) - 1)
    this.#seen ??= new Uint8Array(1 << NAMES_BITS)
    if (this.#seen[place] === 1) return
    this.#seen[place] = 1
    this.count += 1
  }
}

/** Whether a colon follows the string that ends here. */
function isName(text: string, end: number): boolean {
  let at = end + 1
  while (isSpace(text.charCodeAt(at))) at += 1
  return text.charCodeAt(at) === 0x3a
}

const isSpace = (code: number): boolean => code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09

/** Writes values as `stringifyJson` does, and counts the output while it writes. */
export class JsonWriter {
  readonly #budget: Counting
  readonly #charsMax: number
  #text = ''

  constructor({ budget, charsMax = Infinity }: { readonly budget: Counting; readonly charsMax?: number }) {
    this.#budget = budget
    this.#charsMax = charsMax
  }

  get text(): string {
    return this.#text
  }

  value(value: unknown): void {
    if (typeof value === 'string') this.string(value)
    else if (typeof value !== 'object' || value === null || isRawNumber(value))
      this.#small(stringifyJson(value) ?? 'null')
    else if (isFlat(value)) this.#flat(value)
    else if (Array.isArray(value)) this.list(value, (item) => this.value(item))
    else this.members(Object.keys(value), (name) => this.value(Reflect.get(value, name)))
  }

  /** V8 writes a small list or object of plain values in one step. */
  #flat(value: object): void {
    this.#budget.spend(FLAT_WORK + Object.keys(value).length * FLAT_MEMBER_WORK)
    this.raw(stringifyJson(value))
  }

  list<Item>(items: readonly Item[], write: (item: Item) => void): void {
    this.raw('[')
    for (const [at, item] of items.entries()) {
      if (at > 0) this.raw(',')
      write(item)
    }
    this.#small(']')
  }

  members(names: readonly string[], write: (name: string, at: number) => void): void {
    this.#budget.spend(names.length * VALUE_WORK)
    this.raw('{')
    for (const [at, name] of names.entries()) {
      if (at > 0) this.raw(',')
      this.string(name)
      this.raw(':')
      write(name, at)
    }
    this.#small('}')
  }

  /** Writes in chunks, because a control character becomes six characters. Never splits a surrogate pair. */
  string(value: string): void {
    if (value.length <= CHUNK_CHARS) {
      this.#small(stringifyJson(value))
      return
    }
    // Joining the chunks also costs work.
    this.#budget.spend(value.length / 2)
    this.raw('"')
    for (let at = 0; at < value.length;) {
      const end = endOfChunk(value, at + CHUNK_CHARS)
      this.#small(stringifyJson(value.slice(at, end)).slice(1, -1))
      at = end
    }
    this.raw('"')
  }

  /** Text that is already JSON. */
  raw(text: string): void {
    this.#budget.spend(text.length)
    this.#text += text
    if (this.#text.length > this.#charsMax) throw new TextTooLong()
  }

  #small(text: string): void {
    this.#budget.spend(VALUE_WORK)
    this.raw(text)
  }
}

/** The writer's text has exceeded its limit. */
export class TextTooLong extends Error {}

function isFlat(value: object): boolean {
  const members = Array.isArray(value) ? value : Object.values(value)
  if (members.length > FLAT_MEMBERS_MAX) return false
  let chars = 0
  for (const member of members) {
    if (typeof member === 'string') chars += member.length
    else if (typeof member === 'object' && member !== null && !isRawNumber(member)) return false
    if (chars > CHUNK_CHARS) return false
  }
  return true
}

function endOfChunk(text: string, end: number): number {
  const code = text.charCodeAt(end - 1)
  return code >= 0xd800 && code <= 0xdbff && end < text.length ? end + 1 : end
}
