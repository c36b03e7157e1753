import { encodeId, LIMITS, type Conditions, type DryRun, type Mappings } from '@postroad/contract'
import type { Ctx, StoredPayload } from '../context.ts'
import { compileConditions, type CompiledConditions } from '../domain/condition.ts'
import { explain } from '../domain/explain.ts'
import { isRawNumber, parseJson, stringifyJson } from '../domain/json-text.ts'
import { compileMappings, type CompiledMappings } from '../domain/mapping.ts'
import { refuse } from '../domain/refusal.ts'
import { listStoredBodies, type StoredBodyRow } from './submissions/index.ts'

export type DryRunInput = {
  readonly conditions: Conditions
  readonly mappings: Mappings
  readonly payloads?: readonly unknown[] | undefined
  readonly payloads_text?: string | undefined
  readonly recent?: number | undefined
  /** Whose stored payloads: one webhook's; null: all of the project. */
  readonly webhookId: string | null
}

type Result = DryRun['results'][number]
type Subject = Pick<Result, 'index' | 'submission_id' | 'received_at' | 'error'> & { readonly payload: unknown }

/** Runs conditions and mappings as the road would, on payloads that are sent and on stored ones, and stores nothing. */
export async function dryRun(ctx: Ctx, input: DryRunInput): Promise<DryRun> {
  const given = givenPayloads(input)
  const recent = input.recent ?? (given === undefined ? LIMITS.dryRunRecentDefault : 0)
  const subjects = [...(given ?? []).map(givenSubject), ...(await storedSubjects(ctx, { webhookId: input.webhookId, limit: recent }))]
  const compiled = { conditions: compileConditions(input.conditions, 'text'), mappings: compileMappings(input.mappings) }
  let chars = 0
  const results = subjects.map((subject) => {
    const { result, dataChars } = resultOf(subject, compiled)
    chars += dataChars
    return chars > LIMITS.dryRunDataCharsMax && result.matched ? { ...result, data: null, data_left_out: true } : result
  })
  return { matched: results.filter((result) => result.matched).length, tested: results.length, results }
}

type Compiled = { readonly conditions: CompiledConditions; readonly mappings: CompiledMappings }

/** What would become of one payload, and how long the text of its record is. */
function resultOf({ payload, ...subject }: Subject, { conditions, mappings }: Compiled): { result: Result; dataChars: number } {
  const nothing = { matched: false, failed: null, data: null, data_left_out: false }
  if (subject.error !== null) return { result: { ...subject, ...nothing }, dataChars: 0 }
  const failed = explain(conditions, payload)
  if (failed !== null) return { result: { ...subject, ...nothing, failed }, dataChars: 0 }
  const mapped = mappings(payload)
  const data = mapped === 'whole' ? payload : mapped.data
  return { result: { ...subject, ...nothing, matched: true, data }, dataChars: stringifyJson(data).length }
}

function givenPayloads({ payloads, payloads_text: text }: DryRunInput): readonly unknown[] | undefined {
  if (text === undefined) {
    const deep = payloads?.findIndex((payload) => nestsBeyond(payload, LIMITS.jsonDepthMax)) ?? -1
    if (deep >= 0) throw refuse('invalid_request', `payloads[${deep}]: it is nested more than ${LIMITS.jsonDepthMax} levels deep; flatten it.`)
    return payloads
  }
  if (payloads !== undefined) throw refuse('invalid_request', 'payloads_text: send it or payloads, not both.')
  const parsed = parseJson(text)
  if (!parsed.ok) throw refuse('invalid_request', parsed.error.replace('The body', 'payloads_text: it'))
  if (!Array.isArray(parsed.value) || parsed.value.length > LIMITS.dryRunPayloadsMax) {
    throw refuse('invalid_request', `payloads_text: it is the text of a JSON list of at most ${LIMITS.dryRunPayloadsMax} payloads.`)
  }
  return parsed.value
}

function nestsBeyond(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null || isRawNumber(value)) return false
  return levels === 0 || Object.values(value).some((member) => nestsBeyond(member, levels - 1))
}

const givenSubject = (payload: unknown, index: number): Subject => ({ index, submission_id: null, received_at: null, error: null, payload })

/** The newest stored payloads, read one after the other, because a compressed body may be much longer than its bytes. */
async function storedSubjects(ctx: Ctx, { webhookId, limit }: { webhookId: string | null; limit: number }): Promise<readonly Subject[]> {
  if (limit === 0) return []
  const rows = await listStoredBodies(ctx.db, { ...ctx, webhookId, limit, bytesMax: LIMITS.storedPayloadsReadBytesMax })
  const subjects: Subject[] = []
  let chars = 0
  for (const row of rows) {
    if (chars >= LIMITS.storedPayloadsReadBytesMax) break
    // oxlint-disable-next-line no-await-in-loop -- what has been read decides whether more is
    const read = await ctx.readStored({ body: row.body_bytes ?? Buffer.from(row.body ?? ''), headers: row.headers })
    if (read.ok) chars += read.chars
    subjects.push(storedSubject(row, read))
  }
  return subjects
}

function storedSubject(row: StoredBodyRow, read: StoredPayload): Subject {
  const named = { index: null, submission_id: encodeId('submission', row.id), received_at: row.received_at.toISOString() }
  return read.ok ? { ...named, error: null, payload: read.payload } : { ...named, error: read.error, payload: undefined }
}
