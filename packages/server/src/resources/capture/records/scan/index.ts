import { encodeId } from '@postroad/contract'
import type { Ctx } from '../../../../context.ts'
import { listSearched, lookThrough, readsPayloads, withinBytes, type PayloadFilter } from '../../payloads/index.ts'
import { isRepeated, type Repeated } from '../../../../domain/capture/repeated.ts'
import { probesOf, type Probe } from '../../../../domain/capture/search-index/probes.ts'
import type { WorkCounter } from '../../../../domain/work-budget.ts'
import { findCandidates, findIndexedTo } from '../../search-index/index.ts'
import { listFiledBy } from '../../submissions/index.ts'
import type { RecordRow } from '../queries.ts'
import { scanRecords, type ScannedRecordRow, type WantedDelivery } from './queries.ts'

export type RecordScan = PayloadFilter & {
  readonly dataset: string | null
  readonly webhookId: string | null
  /** The rule that filed the record. */
  readonly ruleId: string | null
  /** Only events that were repeated in this way. */
  readonly repeated?: Repeated | undefined
  readonly delivery: WantedDelivery | null
  readonly after: string | null
  readonly before: string | null
  readonly limit: number
  readonly scannedMax: number
  /** The work budget for reading payloads. When it is used up, the piece ends early. */
  readonly work: WorkCounter
}

export type FoundRecords = {
  readonly rows: readonly RecordRow[]
  readonly reached: string | null
  /** The number of records in this piece. */
  readonly scanned: number
  /** The number of scanned records whose payloads were read. The index ruled out the others. */
  readonly read: number
}

type At = Pick<Ctx, 'db' | 'workspaceId' | 'projectId'>
type Scanning = At & Pick<Ctx, 'heavy'>

/** One bounded piece of a search: the matches among the next records, newest first. `reached` is null at the end. */
export async function scan(ctx: Scanning, asked: RecordScan): Promise<FoundRecords> {
  const page = await nextPage(ctx, asked)
  const byRule = await filedByRule(ctx, { page: page.rows, ruleId: asked.ruleId })
  const fitting = page.rows.filter(
    (row) =>
      row.has_delivery &&
      (asked.webhookId === null || row.webhook_id === asked.webhookId) &&
      isRepeated(row, asked.repeated) &&
      (byRule === undefined || byRule.has(row.id)),
  )
  const read = withinBytes(readsPayloads(asked) ? fitting : fitting.slice(0, asked.limit))
  const payloads = new Map<string, string>()
  const { looked, found } = await lookThrough(ctx, read, {
    read: async (batch) => {
      const documents = await listSearched(ctx, { recordIds: batch.map(({ id }) => id), filter: asked })
      for (const [id, { payload }] of documents) payloads.set(id, payload)
      return batch.map(({ id }) => documents.get(id))
    },
    bytesOf: ({ bytes }) => bytes,
    filter: asked,
    work: asked.work,
  })
  const rows = found.slice(0, asked.limit).map((row) => ({ ...row, data: payloads.get(row.id) ?? '' }))
  // The last record looked at: the last one returned when there are more matches, or the last one read when the budget ended early.
  const last = found.length > rows.length ? rows.at(-1) : looked < fitting.length ? read[looked - 1] : undefined
  return {
    rows,
    reached: last === undefined ? page.reached : last.id,
    scanned: last === undefined ? page.scanned : page.passed(last.id),
    read: looked,
  }
}

type NextPage = {
  readonly rows: readonly ScannedRecordRow[]
  readonly reached: string | null
  readonly scanned: number
  /** The number of records up to this one. */
  readonly passed: (id: string) => number
}

/** The next records that may match. Behind the newest ones, the index rules out most of those that do not. */
async function nextPage(ctx: At, asked: RecordScan): Promise<NextPage> {
  const at = { workspaceId: ctx.workspaceId, projectId: ctx.projectId }
  const probes = indexProbes(asked)
  const { scannedMax } = asked
  const indexedTo = probes.length === 0 ? undefined : await findIndexedTo(ctx.db, at)
  if (indexedTo === undefined)
    return pageOf(await scanRecords(ctx.db, { ...at, ...asked, limit: scannedMax }), scannedMax)
  if (asked.before === null || asked.before > indexedTo) {
    const after = asked.after === null || asked.after < indexedTo ? indexedTo : asked.after
    const tail = pageOf(await scanRecords(ctx.db, { ...at, ...asked, after, limit: scannedMax }), scannedMax)
    if (tail.reached !== null || after !== indexedTo) return tail
    const lowest = tail.rows.at(-1)
    if (lowest !== undefined) return { ...tail, reached: lowest.id }
  }
  return candidates(ctx, { asked, probes, before: asked.before ?? LAST_ID })
}

/** The terms that the index can look for; empty: it rules out nothing. */
export function indexProbes({
  text,
  textIn,
  conditions,
  headerConditions = [],
  queryConditions = [],
}: PayloadFilter): readonly Probe[] {
  // The index does not contain responses.
  const indexed = textIn?.includes('response') === true ? null : text
  return probesOf({ text: indexed, conditions, headerConditions, queryConditions })
}

const LAST_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff'

async function candidates(
  ctx: At,
  { asked, probes, before }: { readonly asked: RecordScan; readonly probes: readonly Probe[]; readonly before: string },
): Promise<NextPage> {
  const at = { workspaceId: ctx.workspaceId, projectId: ctx.projectId }
  const found = await findCandidates(ctx.db, { ...at, probes, after: asked.after, before, limit: asked.scannedMax })
  const rows =
    found.ids.length === 0
      ? []
      : await scanRecords(ctx.db, { ...at, ...asked, ids: found.ids, before, limit: found.ids.length })
  const passed = new Map(found.ids.map((id, index) => [id, found.passed[index] ?? 0]))
  return { rows, reached: found.reached, scanned: found.scanned, passed: (id) => passed.get(id) ?? found.scanned }
}

function pageOf(rows: readonly ScannedRecordRow[], scannedMax: number): NextPage {
  return {
    rows,
    // A page that is not full is the last one.
    reached: rows.length < scannedMax ? null : (rows.at(-1)?.id ?? null),
    scanned: rows.length,
    passed: (id) => rows.findIndex((row) => row.id === id) + 1,
  }
}

/** The records of a page that a rule filed; undefined when no rule is given. Only records without an endpoint meet rules. */
async function filedByRule(
  ctx: Pick<Ctx, 'db' | 'workspaceId' | 'projectId'>,
  { page, ruleId }: { readonly page: readonly ScannedRecordRow[]; readonly ruleId: string | null },
): Promise<ReadonlySet<string> | undefined> {
  if (ruleId === null) return undefined
  const submissionIds = [...new Set(page.flatMap((row) => (row.webhook_id === null ? [row.submission_id] : [])))]
  return new Set(await listFiledBy(ctx, { rule: encodeId('rule', ruleId), submissionIds }))
}
