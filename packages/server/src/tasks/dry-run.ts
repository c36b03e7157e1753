import type { Conditions, Mappings, Split } from '@postroad/contract'
import { LIMITS, REASONS } from '@postroad/contract/plain'
import { compileSplit, type ItemsOf } from '../domain/capture/split.ts'
import { parseJson, parseStoredJson, stringifyJson } from '../domain/json/json-text.ts'
import { compileConditions, type CompiledConditions } from '../domain/routing/condition.ts'
import type { EventSource } from '../domain/routing/event-path.ts'
import { explain } from '../domain/routing/explain.ts'
import { compileMappings, type CompiledMappings } from '../domain/routing/mapping.ts'
import { RecordTexts } from '../domain/routing/record-texts.ts'
import { WorkCounter } from '../domain/work-budget.ts'
import { task } from '../platform/heavy/task.ts'
import { readStored, requestOf, type StoredBody } from './read-stored.ts'

/** Runs conditions and mappings as the ingest path would, on payloads that were sent or stored. */

export type Tried = { readonly conditions: Conditions; readonly mappings: Mappings; readonly split: Split }

/** The limits that the payloads of one call share. */
export type DryRunLeft = {
  readonly work: number
  /** The length of the records in the answer. */
  readonly chars: number
  /** The length of stored payloads. */
  readonly storedChars: number
}

export type DryRunAsked = {
  /** JSON of `Tried`: it can have numbers that are stored as their source. */
  readonly tried: string
  /** A JSON list of payloads, or stored bodies. */
  readonly payloads: string | readonly StoredBody[]
  readonly left: DryRunLeft
  /** Whether a payload before these was tried. The first one is always tried. */
  readonly isLater: boolean
}

/** The result for one payload. `failed` and `data` are JSON. */
export type TriedPayload = {
  readonly matched: boolean
  readonly failed: string | null
  readonly data: string | null
  readonly leftOut: boolean
  readonly error: string | null
}

export type DryRunDone = {
  /** The results for the items of the first payloads, up to the payload with which a limit was used up. */
  readonly results: readonly (readonly TriedPayload[])[]
  /** The number of payloads in the list. */
  readonly given: number
  readonly left: DryRunLeft
}

export const dryRunPayloads = task(
  'payloads.dry-run',
  async (asked: DryRunAsked): Promise<DryRunDone | { readonly refused: string }> => {
    const payloads = typeof asked.payloads === 'string' ? readList(asked.payloads) : asked.payloads
    if ('refused' in payloads) return payloads
    const run = new Run(asked)
    const results: (readonly TriedPayload[])[] = []
    for (const payload of payloads) {
      if (run.isOver(results.length > 0 || asked.isLater)) break
      // oxlint-disable-next-line no-await-in-loop -- the work so far decides whether there is more
      results.push(await run.resultsFor(payload))
    }
    return { results, given: payloads.length, left: run.left }
  },
)

function readList(text: string): readonly unknown[] | { readonly refused: string } {
  const parsed = parseJson(text)
  if (!parsed.ok) return { refused: parsed.error.replace('The body', 'payloads_text: it') }
  if (Array.isArray(parsed.value) && parsed.value.length <= LIMITS.dryRunPayloadsMax) return parsed.value
  return {
    refused: `payloads_text must be the text of a JSON list of at most ${LIMITS.dryRunPayloadsMax} payloads.`,
  }
}

/** Work for each character that is read or written. */
const READ_WORK = 8

type Read = EventSource & { readonly chars: () => number }

/** The length of its JSON, which is written only when it is needed. */
function charsOf(payload: unknown): () => number {
  let chars: number | undefined
  return () => (chars ??= stringifyJson(payload).length)
}

class Run {
  readonly #conditions: CompiledConditions
  readonly #mappings: CompiledMappings
  readonly #itemsOf: ItemsOf | undefined
  readonly #work: WorkCounter
  readonly #isStored: boolean
  #chars: number
  #storedChars: number

  constructor({ tried, payloads, left }: DryRunAsked) {
    const { conditions, mappings, split } = readTried(tried)
    this.#itemsOf = compileSplit(split)
    this.#conditions = compileConditions(conditions, 'text')
    this.#mappings = compileMappings(mappings)
    this.#work = new WorkCounter(left.work)
    this.#isStored = typeof payloads !== 'string'
    this.#chars = left.chars
    this.#storedChars = left.storedChars
  }

  get left(): DryRunLeft {
    return { work: this.#work.left, chars: this.#chars, storedChars: this.#storedChars }
  }

  isOver(isLater: boolean): boolean {
    return isLater && (this.#work.usedUp || (this.#isStored && this.#storedChars <= 0))
  }

  async resultsFor(payload: unknown): Promise<readonly TriedPayload[]> {
    if (!this.#isStored) {
      return this.#triedItems({ payload, request: null, chars: charsOf(payload) })
    }
    // A compressed body can inflate to many times its size, so bodies are read one by one.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- `isStored` says that it is one
    const stored = payload as StoredBody
    const read = await readStored(stored)
    if (!read.ok) return [{ ...NOTHING, error: read.error }]
    const { chars } = read
    this.#storedChars -= chars
    this.#work.spend(READ_WORK * chars)
    return this.#triedItems({ payload: read.payload, request: requestOf(stored), chars: () => chars })
  }

  #triedItems(read: Read): readonly TriedPayload[] {
    const items = this.#itemsOf?.(read.payload)
    if (items === undefined) return [this.#tried(read)]
    const { request } = read
    return items
      .slice(0, LIMITS.dryRunPayloadsMax)
      .map((item) => this.#tried({ payload: item, request, chars: charsOf(item) }))
  }

  #tried({ payload, request, chars }: Read): TriedPayload {
    const failed = explain(this.#conditions, { payload, request, budget: this.#work })
    if (failed !== null) return { ...NOTHING, failed: stringifyJson(failed) }
    this.#work.spend(READ_WORK * chars())
    const texts = new RecordTexts({ payloadBytes: () => 3 * chars(), bytesMax: LIMITS.recordsOfEventBytesMax })
    const mapped = this.#mappings({ payload, request }, texts)
    const data = mapped === 'whole' ? stringifyJson(payload) : (mapped.text ?? stringifyJson(mapped.data) ?? '')
    texts.add(mapped === 'whole' ? '' : data)
    if (texts.tooLarge) return { ...NOTHING, matched: true, error: REASONS.records_too_large.text }
    const written = mapped === 'whole' ? chars() : data.length
    this.#work.spend(READ_WORK * written)
    this.#chars -= written
    const leftOut = this.#chars < 0
    return { ...NOTHING, matched: true, data: leftOut ? null : data, leftOut }
  }
}

const NOTHING: TriedPayload = { matched: false, failed: null, data: null, leftOut: false, error: null }

function readTried(text: string): Tried {
  const parsed = parseStoredJson(text)
  if (!parsed.ok) throw new Error(`Conditions and mappings are not JSON: ${parsed.error}`)
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- written by the dry run that asks
  return parsed.value as Tried
}
