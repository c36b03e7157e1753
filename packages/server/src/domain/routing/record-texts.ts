import type { Transform } from '@postroad/contract'
import { stringifyJson } from '../json/json-text.ts'

/** The upper bound of a record: its constant bytes, its number of values, and its possible copies of the payload. */
export type RecordBound = { readonly fixedBytes: number; readonly values: number; readonly payloads: number }

/** A timestamp or a boolean. */
const SMALL_VALUE_BYTES = 32

/**
 * The texts of all records of one event, which share one limit. Records that certainly fit are not counted value by value.
 * Otherwise each part of the payload is written once, however many mappings use it, and each of its transforms runs once.
 */
export class RecordTexts {
  /** The limit is exceeded, so nothing of the event may be stored. */
  tooLarge = false
  #bytesLeft: number
  #payloadBytes: number | undefined
  readonly #countPayload: () => number
  readonly #texts = new Map<unknown, string>()
  readonly #transformed = new Map<Transform, Map<unknown, unknown>>()

  /** `payloadBytes`: the maximum size of the payload's JSON. */
  constructor({ payloadBytes, bytesMax }: { readonly payloadBytes: () => number; readonly bytesMax: number }) {
    this.#countPayload = payloadBytes
    this.#bytesLeft = bytesMax
  }

  /** Whether such a record fits for any payload. */
  certainlyFits({ fixedBytes, values, payloads }: RecordBound): boolean {
    this.#payloadBytes ??= this.#countPayload()
    return fixedBytes + values * SMALL_VALUE_BYTES + payloads * this.#payloadBytes <= this.#bytesLeft
  }

  /** Whether a text of this length can fit. */
  mayFit(chars: number): boolean {
    this.tooLarge ||= chars > this.#bytesLeft
    return !this.tooLarge
  }

  /** Reserves the room for a record's text. */
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
