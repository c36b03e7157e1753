import { encodeId, LIMITS, REASONS, type Conditions, type DryRun, type Mappings } from '@postroad/contract'
import type { Ctx } from '../context.ts'
import { compileConditions, type CompiledConditions } from '../domain/routing/condition.ts'
import { finish } from '../domain/in-turns.ts'
import { explain } from '../domain/routing/explain.ts'
import { isRawNumber, parseJson, stringifyJson } from '../domain/json/json-text.ts'
import { compileMappings, type CompiledMappings } from '../domain/routing/mapping.ts'
import { RecordTexts } from '../domain/routing/record-texts.ts'
import { refuse } from '../domain/refusal.ts'
import { PacedWork } from '../platform/paced-work.ts'
import { listStoredBodies, readStored, type StoredBodyRow, type StoredPayload } from './capture/submissions/index.ts'

export type DryRunInput = {
  readonly conditions: Conditions
  readonly mappings: Mappings
  readonly payloads?: readonly unknown[] | undefined
  readonly payloads_text?: string | undefined
  readonly recent?: number | undefined
  /** The webhook whose stored payloads are used; null: those that reached the rules of the project. */
  readonly webhookId: string | null
}

type Result = DryRun['results'][number]
type Subject = Pick<Result, 'index' | 'submission_id' | 'received_at' | 'error'> & {
  readonly payload: unknown
  /** The length of its text. */
  readonly chars: () => number
}

/** Runs conditions and mappings as the ingest path would, on sent and stored payloads, and stores nothing. */
export async function dryRun(ctx: Ctx, input: DryRunInput): Promise<DryRun> {
  const given = givenPayloads(input) ?? []
  const stored = await storedBodies(ctx, input)
  const compiled = {
    conditions: compileConditions(input.conditions, 'text'),
    mappings: compileMappings(input.mappings),
  }
  const work = new PacedWork(LIMITS.dryRunWorkMax)
  const results: Result[] = []
  let chars = 0
  for await (const subject of subjectsOf(ctx, { given, stored, work })) {
    const { result, dataChars } = await resultOf(subject, { ...compiled, work })
    chars += dataChars
    const leftOut = chars > LIMITS.dryRunDataCharsMax && result.matched
    results.push(leftOut ? { ...result, data: null, data_left_out: true } : result)
  }
  const left = given.length + stored.length - results.length
  return {
    matched: results.filter((result) => result.matched).length,
    tested: results.length,
    ...(left > 0 ? { budget_used_up: true, not_looked_at: left } : {}),
    results,
  }
}

type Compiled = {
  readonly conditions: CompiledConditions
  readonly mappings: CompiledMappings
  readonly work: PacedWork
}

/** Work for each character that is read or written. */
const READ_WORK = 8

/** The result for one payload, and the length of the text of its record. */
async function resultOf(
  { payload, chars, ...subject }: Subject,
  { conditions, mappings, work }: Compiled,
): Promise<{ result: Result; dataChars: number }> {
  const nothing = { matched: false, failed: null, data: null, data_left_out: false }
  if (subject.error !== null) return { result: { ...subject, ...nothing }, dataChars: 0 }
  const failed = await finish(explain(conditions, { payload, spend: work.spend }))
  if (failed !== null) return { result: { ...subject, ...nothing, failed }, dataChars: 0 }
  await work.spend(READ_WORK * chars())
  const texts = new RecordTexts({ payloadBytes: () => 3 * chars(), bytesMax: LIMITS.recordsOfEventBytesMax })
  const mapped = mappings(payload, texts)
  const data = mapped === 'whole' ? payload : mapped.data
  const text = mapped === 'whole' ? '' : (mapped.text ?? stringifyJson(data) ?? '')
  texts.add(text)
  if (texts.tooLarge) return { result: { ...subject, ...nothing, matched: true, error: TOO_LARGE }, dataChars: 0 }
  const dataChars = mapped === 'whole' ? chars() : text.length
  await work.spend(READ_WORK * dataChars)
  return { result: { ...subject, ...nothing, matched: true, data }, dataChars }
}

const TOO_LARGE = REASONS.records_too_large.text

type ToRead = {
  readonly given: readonly unknown[]
  readonly stored: readonly StoredBodyRow[]
  readonly work: PacedWork
}

/** Sent payloads, then the stored ones one by one, because a compressed body can inflate to many times its size. */
async function* subjectsOf(ctx: Ctx, { given, stored, work }: ToRead): AsyncGenerator<Subject> {
  for (const [index, payload] of given.entries()) {
    if (index > 0 && work.usedUp) return
    yield givenSubject(payload, index)
  }
  let first = given.length === 0
  let chars = 0
  for (const row of stored) {
    if (!first && (work.usedUp || chars >= LIMITS.storedPayloadsReadBytesMax)) return
    first = false
    // oxlint-disable-next-line no-await-in-loop -- the work so far decides whether there is more
    const read = await readStored({ body: row.body_bytes ?? Buffer.from(row.body ?? ''), headers: row.headers })
    const readChars = read.ok ? read.chars : 0
    chars += readChars
    // oxlint-disable-next-line no-await-in-loop -- as above
    await work.spend(READ_WORK * readChars)
    yield storedSubject(row, read)
  }
}

function givenPayloads({ payloads, payloads_text: text }: DryRunInput): readonly unknown[] | undefined {
  if (text === undefined) {
    const deep = payloads?.findIndex((payload) => nestsBeyond(payload, LIMITS.jsonDepthMax)) ?? -1
    if (deep >= 0)
      throw refuse(
        'invalid_request',
        `payloads[${deep}] is nested more than ${LIMITS.jsonDepthMax} levels deep; flatten it.`,
      )
    return payloads
  }
  if (payloads !== undefined)
    throw refuse('invalid_request', 'payloads_text cannot be combined with payloads; send one of them.')
  const parsed = parseJson(text)
  if (!parsed.ok) throw refuse('invalid_request', parsed.error.replace('The body', 'payloads_text: it'))
  if (!Array.isArray(parsed.value) || parsed.value.length > LIMITS.dryRunPayloadsMax) {
    throw refuse(
      'invalid_request',
      `payloads_text must be the text of a JSON list of at most ${LIMITS.dryRunPayloadsMax} payloads.`,
    )
  }
  return parsed.value
}

function nestsBeyond(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null || isRawNumber(value)) return false
  return levels === 0 || Object.values(value).some((member) => nestsBeyond(member, levels - 1))
}

function givenSubject(payload: unknown, index: number): Subject {
  let chars: number | undefined
  return {
    index,
    submission_id: null,
    received_at: null,
    error: null,
    payload,
    chars: () => (chars ??= stringifyJson(payload).length),
  }
}

/** The newest stored payloads, in the form in which they are stored. */
async function storedBodies(ctx: Ctx, { webhookId, ...input }: DryRunInput): Promise<readonly StoredBodyRow[]> {
  const isGiven = input.payloads !== undefined || input.payloads_text !== undefined
  const limit = input.recent ?? (isGiven ? 0 : LIMITS.dryRunRecentDefault)
  return limit === 0
    ? []
    : listStoredBodies(ctx.db, { ...ctx, webhookId, limit, bytesMax: LIMITS.storedPayloadsReadBytesMax })
}

function storedSubject(row: StoredBodyRow, read: StoredPayload): Subject {
  const named = {
    index: null,
    submission_id: encodeId('submission', row.id),
    received_at: row.received_at.toISOString(),
  }
  return read.ok
    ? { ...named, error: null, payload: read.payload, chars: () => read.chars }
    : { ...named, error: read.error, payload: undefined, chars: () => 0 }
}
