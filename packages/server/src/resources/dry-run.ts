import { encodeId, LIMITS, type Conditions, type DryRun, type Mappings, type Split } from '@postroad/contract'
import type { Ctx } from '../context.ts'
import { isRawNumber, stringifyJson } from '../domain/json/json-text.ts'
import { RawJson } from '../domain/json/raw-json.ts'
import { refuse } from '../domain/refusal.ts'
import { dryRunPayloads, type DryRunAsked, type DryRunDone, type TriedPayload } from '../tasks/dry-run.ts'
import { readingWorkOf, storedBodyOf } from '../tasks/read-stored.ts'
import { batchesOf } from './batches.ts'
import { listBodies, listStoredSizes, type StoredSizeRow } from './capture/submissions/index.ts'
import { writtenAnswer } from './verbs.ts'

export type DryRunInput = {
  readonly conditions: Conditions
  readonly mappings: Mappings
  /** The items that become records; null: a payload becomes one. */
  readonly split: Split
  readonly payloads?: readonly unknown[] | undefined
  readonly payloads_text?: string | undefined
  readonly recent?: number | undefined
  /** The webhook whose stored payloads are used; null: those that reached the rules of the project. */
  readonly webhookId: string | null
}

/**
 * Runs conditions and mappings as the ingest path would, on sent and then on stored payloads, and stores nothing. Batch by batch,
 * so that few payloads are in memory, and others get their turn.
 */
export async function dryRun(ctx: Ctx, input: DryRunInput): Promise<DryRun> {
  const text = givenText(input)
  const stored = await storedSizes(ctx, input)
  const run = new Batches(ctx, input)
  if (text !== null) await run.tryGiven(text)
  for (const batch of batchesOf(stored, ({ bytes }) => bytes)) {
    // oxlint-disable-next-line no-await-in-loop -- the work so far decides whether there is more
    if (!(await run.tryStored(batch))) break
  }
  const { results, given } = run
  const left = given + stored.length - run.looked
  return writtenAnswer<DryRun>({
    matched: run.matched,
    tested: run.looked,
    ...(left > 0 ? { budget_used_up: true, not_looked_at: left } : {}),
    results: new RawJson(`[${results.join(',')}]`),
  })
}

class Batches {
  /** The results as JSON. */
  readonly results: string[] = []
  /** Payloads that were tried. */
  looked = 0
  /** Payloads that make a record. */
  matched = 0
  /** The number of payloads that were sent. */
  given = 0
  readonly #ctx: Ctx
  readonly #tried: string
  readonly #parts: number
  #left: DryRunDone['left'] = {
    work: LIMITS.dryRunWorkMax,
    chars: LIMITS.dryRunDataCharsMax,
    storedChars: LIMITS.storedPayloadsReadBytesMax,
  }

  constructor(ctx: Ctx, { conditions, mappings, split }: DryRunInput) {
    this.#ctx = ctx
    this.#tried = stringifyJson({ conditions, mappings, split })
    this.#parts = 1 + conditions.length + mappings.length
  }

  async tryGiven(text: string): Promise<void> {
    // A list of this length can have as many payloads, each of one character.
    const count = Math.min(LIMITS.dryRunPayloadsMax, Math.ceil(text.length / 2))
    const { results, given } = await this.#run(text, { size: text.length, count })
    this.given = given
    for (const [index, result] of results.entries())
      this.#add(result, { index, submission_id: null, received_at: null })
  }

  /** Returns whether all of them were tried. */
  async tryStored(rows: readonly StoredSizeRow[]): Promise<boolean> {
    const { workspaceId, projectId, db } = this.#ctx
    const bodies = await listBodies(db, { workspaceId, projectId, ids: rows.map(({ id }) => id) })
    const byId = new Map(bodies.map((row) => [row.id, storedBodyOf(row)]))
    // The retention may have deleted one since.
    const read = rows.map(({ id }) => byId.get(id) ?? { body: '', headers: {} })
    const size = read.reduce((sum, stored) => sum + readingWorkOf(stored), 0)
    const { results } = await this.#run(read, { size, count: rows.length })
    for (const [at, result] of results.entries()) {
      const { id, received_at } = rows[at] ?? NO_ROW
      this.#add(result, {
        index: null,
        submission_id: encodeId('submission', id),
        received_at: received_at.toISOString(),
      })
    }
    return results.length === rows.length
  }

  /** A mapping can write its values for each payload, whatever the payload has. */
  async #run(
    payloads: DryRunAsked['payloads'],
    { size, count }: { readonly size: number; readonly count: number },
  ): Promise<DryRunDone> {
    const done = await this.#ctx.heavy.run(dryRunPayloads, {
      workspaceId: this.#ctx.workspaceId,
      input: { tried: this.#tried, payloads, left: this.#left, isLater: this.looked > 0 },
      work: size * this.#parts + count * this.#tried.length,
    })
    if ('refused' in done) throw refuse('invalid_request', done.refused)
    this.#left = done.left
    return done
  }

  #add(
    items: readonly TriedPayload[],
    named: Pick<DryRun['results'][number], 'index' | 'submission_id' | 'received_at'>,
  ): void {
    this.looked += 1
    if (items.some(({ matched }) => matched)) this.matched += 1
    for (const { matched, failed, data, leftOut, error } of items) {
      const shown = JSON.stringify({ ...named, matched, data_left_out: leftOut, error }).slice(0, -1)
      this.results.push(`${shown},"failed":${failed ?? 'null'},"data":${data ?? 'null'}}`)
    }
  }
}

const NO_ROW = { id: '', received_at: new Date(0) }

/** The payloads that were sent, as a JSON list; null: there are none. */
function givenText({ payloads, payloads_text: text }: DryRunInput): string | null {
  if (text !== undefined) {
    if (payloads !== undefined)
      throw refuse('invalid_request', 'payloads_text cannot be combined with payloads; send one of them.')
    return text
  }
  if (payloads === undefined) return null
  const deep = payloads.findIndex((payload) => nestsBeyond(payload, LIMITS.jsonDepthMax))
  if (deep >= 0)
    throw refuse(
      'invalid_request',
      `payloads[${deep}] is nested more than ${LIMITS.jsonDepthMax} levels deep; flatten it.`,
    )
  return stringifyJson(payloads)
}

function nestsBeyond(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null || isRawNumber(value)) return false
  return levels === 0 || Object.values(value).some((member) => nestsBeyond(member, levels - 1))
}

/** The newest stored payloads, without their bodies. */
async function storedSizes(ctx: Ctx, { webhookId, ...input }: DryRunInput): Promise<readonly StoredSizeRow[]> {
  const isGiven = input.payloads !== undefined || input.payloads_text !== undefined
  const limit = input.recent ?? (isGiven ? 0 : LIMITS.dryRunRecentDefault)
  if (limit === 0) return []
  return listStoredSizes(ctx.db, { ...ctx, webhookId, limit, bytesMax: LIMITS.storedPayloadsReadBytesMax })
}
