import type { Transform } from '@postroad/contract'
import { stringifyJson } from '../json/json-text.ts'

/** What records are made of, at most: bytes that no payload changes, values, and how often the payload may be in them. */
export type RecordBound = { readonly fixedBytes: number; readonly values: number; readonly payloads: number }

/** A moment, true or false. */
const SMALL_VALUE_BYTES = 32

/**
 * The texts of the records that one event makes, which are bounded together. What is certain to fit is not counted value by
 * value; else each part of the payload is written once, however many mappings take it, and each transform of it runs once.
 */
export class RecordTexts {
  /** There is no more room, so nothing of the event may be stored. */
  tooLarge = false
  #bytesLeft: number
  readonly #payloadBytes: () => number
  readonly #texts = new Map<unknown, string>()
  readonly #transformed = new Map<Transform, Map<unknown, unknown>>()

  /** `payloadBytes`: of the JSON of the payload, at most. */
  constructor({ payloadBytes, bytesMax }: { readonly payloadBytes: () => number; readonly bytesMax: number }) {
    this.#payloadBytes = payloadBytes
    this.#bytesLeft = bytesMax
  }

  /** Whether such a record fits, whatever the payload says. */
  certainlyHolds({ fixedBytes, values, payloads }: RecordBound): boolean {
    return fixedBytes + values * SMALL_VALUE_BYTES + payloads * this.#payloadBytes() <= this.#bytesLeft
  }

  /** Whether a text of so many characters can fit. */
  mayHold(chars: number): boolean {
    this.tooLarge ||= chars > this.#bytesLeft
    return !this.tooLarge
  }

  /** Takes the room of a record's text. */
  add(text: string): void {
    this.#bytesLeft -= Buffer.byteLength(text)
    this.tooLarge ||= this.#bytesLeft < 0
  }

  textOf(value: unknown): string {
    return rememberedIn(this.#texts, value, () => stringifyJson(value))
  }

  transformed(transform: Transform, value: unknown, apply: (value: unknown) => unknown): unknown {
    const results = rememberedIn(this.#transformed, transform, () => new Map<unknown, unknown>())
    return rememberedIn(results, value, () => apply(value))
  }
}

function rememberedIn<Key, Value>(known: Map<Key, Value>, key: Key, make: () => Value): Value {
  const found = known.get(key)
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it is in the map, so it is a value of it
  if (found !== undefined || known.has(key)) return found as Value
  const made = make()
  known.set(key, made)
  return made
}
