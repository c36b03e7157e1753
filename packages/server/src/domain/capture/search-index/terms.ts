import { queryMembers } from '@postroad/contract/plain'
import { folded, unescaped } from '../../text-search.ts'
import { parseStoredJson, isRawNumber } from '../../json/json-text.ts'
import type { Path } from '../../routing/dot-path.ts'
import { textsOf } from '../../routing/condition.ts'

/**
 * A term is a 16-bit hash of something that a document contains: three characters in a row, a path, or a value at a
 * path. A document that lacks one term of a search does not match. A document with all of them may match, so a search
 * still reads it.
 */
export type Term = number

/** The number of different terms. */
export const TERMS = 65_536

export type Document = {
  readonly payload: string
  /** The headers of its request, by their names in lower case. */
  readonly headers: Readonly<Record<string, unknown>>
  /** The query string of its request; null: it had none. */
  readonly query: string | null
}

/** Where a path starts. */
export type Scope = 'payload' | 'headers' | 'query'

/** A longer payload has no terms, so every search reads it. */
export const INDEXED_CHARS_MAX = 131_072
/** The same for a payload with more fields. */
const NODES_MAX = 5_000

/** A path occurs in many documents, so few bits are enough to rule out the others. */
const TERMS_OF_PATH = 3
/** A search for a value has no other terms, so it needs as many bits as a text of eight characters. */
const TERMS_OF_VALUE = 6
const GOLDEN = 0x9e3779b1
const FNV_START = 0x811c9dc5
const FNV_PRIME = 0x01000193
const SCOPES: Readonly<Record<Scope, number>> = { payload: 0x1f, headers: 0x2f, query: 0x3f }
/** No path has this character, so `a` then `b` differs from `ab`. */
const STEP_END = 0x1_0000
const VALUE_START = 0x1_0001

function mixed(hash: number): Term {
  let bits = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d)
  bits = Math.imul(bits ^ (bits >>> 12), 0x297a2d39)
  return (bits ^ (bits >>> 15)) >>> 16
}

const trigram = (first: number, second: number, third: number): Term =>
  mixed(Math.imul(first, GOLDEN) ^ Math.imul(second, 0x85ebca77) ^ Math.imul(third, 0xc2b2ae3d))

function hashed(start: number, text: string): number {
  let hash = start
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), FNV_PRIME)
  return hash
}

const afterStep = (path: number, step: string): number => Math.imul(hashed(path, step) ^ STEP_END, FNV_PRIME)
const startOf = (scope: Scope): number => Math.imul(FNV_START ^ SCOPES[scope], FNV_PRIME)

/** The different groups of three characters of a text, in upper or lower case. */
export function termsOfText(text: string): readonly Term[] {
  const terms = new Set<Term>()
  const plain = folded(text)
  for (let at = 2; at < plain.length; at += 1)
    terms.add(trigram(plain.charCodeAt(at - 2), plain.charCodeAt(at - 1), plain.charCodeAt(at)))
  return [...terms]
}

const pathHash = (scope: Scope, steps: readonly string[]): number =>
  steps.reduce((path, step) => afterStep(path, step), startOf(scope))

const termsOf = (hash: number, count: number): Term[] =>
  Array.from({ length: count }, (_none, index) => mixed(hash + Math.imul(index, GOLDEN)))

/** The terms of every document that has something at this path. */
export const termsOfPath = (scope: Scope, path: Path): readonly Term[] => termsOf(pathHash(scope, path), TERMS_OF_PATH)

/** The terms of every document with a value at this path that equals this text in rules. */
export const termsOfValue = (scope: Scope, { path, text }: { path: Path; text: string }): readonly Term[] =>
  termsOf(hashed(pathHash(scope, path) ^ VALUE_START, text), TERMS_OF_VALUE)

/** The text of a request that a search for text reads: its headers, and its query string as received and decoded. */
export function textOfRequest({ headers, query }: Omit<Document, 'payload'>): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${String(value)}`)
  if (query === null) return lines.join('\n')
  const decoded = Object.entries(queryMembers(query)).map(([name, value]) => `${name}=${[value].flat().join(' ')}`)
  return [...lines, query, ...decoded].join('\n')
}

/** Collects the terms of one document after another, without a new table for each. */
export class TermReader {
  /** For each term, the number of the last document that has it. */
  readonly #seenBy = new Uint32Array(TERMS)
  readonly #found = new Uint16Array(TERMS)
  #count = 0
  #document = 0
  #nodes = 0

  /** Undefined: the document is too large, so every search must read it. */
  read({ payload, headers, query }: Document): Uint16Array | undefined {
    if (payload.length > INDEXED_CHARS_MAX) return undefined
    this.#document += 1
    this.#count = 0
    this.#nodes = 0
    this.#readText(payload)
    if (payload.includes('\\')) this.#readText(unescaped(payload))
    this.#readText(textOfRequest({ headers, query }))
    for (const [name, value] of Object.entries(headers)) this.#readNode(afterStep(startOf('headers'), name), value)
    if (query !== null) this.#readNode(startOf('query'), queryMembers(query))
    const parsed = parseStoredJson(payload)
    if (parsed.ok) this.#readNode(startOf('payload'), parsed.value)
    return this.#nodes > NODES_MAX ? undefined : this.#found.slice(0, this.#count)
  }

  #add(term: Term): void {
    if (this.#seenBy[term] === this.#document) return
    this.#seenBy[term] = this.#document
    this.#found[this.#count] = term
    this.#count += 1
  }

  #readText(text: string): void {
    const plain = folded(text)
    let first = plain.charCodeAt(0)
    let second = plain.charCodeAt(1)
    for (let at = 2; at < plain.length; at += 1) {
      const third = plain.charCodeAt(at)
      this.#add(trigram(first, second, third))
      first = second
      second = third
    }
  }

  #addAll(hash: number, count: number): void {
    for (let index = 0; index < count; index += 1) this.#add(mixed(hash + Math.imul(index, GOLDEN)))
  }

  /** Goes through the value without recursion, because stored JSON may be nested without a limit. */
  #readNode(path: number, value: unknown): void {
    const open: { readonly path: number; readonly value: unknown }[] = [{ path, value }]
    for (let node = open.pop(); node !== undefined; node = open.pop()) {
      this.#nodes += 1
      if (this.#nodes > NODES_MAX) return
      this.#addAll(node.path, TERMS_OF_PATH)
      if (typeof node.value === 'object' && node.value !== null && !isRawNumber(node.value)) {
        for (const [step, inner] of Object.entries(node.value))
          open.push({ path: afterStep(node.path, step), value: inner })
      } else {
        for (const text of textsOf(node.value)) this.#addAll(hashed(node.path ^ VALUE_START, text), TERMS_OF_VALUE)
      }
    }
  }
}
