import { encodeId, LIMITS } from '@postroad/contract'
import type { Ctx } from '../../../../context.ts'
import {
  listSearched,
  lookThrough,
  readsPayloads,
  readsResponses,
  withinBytes,
  type PayloadFilter,
  type Searched,
} from '../../../capture/payloads/index.ts'
import { listFiledBy } from '../../../capture/submissions/index.ts'
import { WorkCounter } from '../../../../domain/work-budget.ts'
import { listResponseBytes, listResponses, type ResponseRow } from './responses/queries.ts'
import { scanPage, type Between, type ScanFilter, type ScannedRow } from './queries.ts'

export { countPage, inStates, listMatching, type ScanFilter, type ScannedRow } from './queries.ts'

export type Wanted = ScanFilter &
  PayloadFilter & { /** The rule that filed its record; null: any. */ readonly ruleId: string | null }

export type Scan = Between & {
  readonly wanted: Wanted
  readonly newestFirst: boolean
  /** The most matches to find. */
  readonly limit: number
  /** The most deliveries to look at. */
  readonly scannedMax: number
  /** The work budget for reading payloads; absent: the budget of one search. */
  readonly work?: WorkCounter
}

export type Found = {
  readonly rows: readonly ScannedRow[]
  /** The id to continue from; null: there are no more deliveries. */
  readonly reached: string | null
  /** The number of deliveries looked at, including those that the next piece looks at again. */
  readonly scanned: number
  /** The number of these whose payload was read. */
  readonly looked: number
}

type At = Pick<Ctx, 'db' | 'workspaceId' | 'projectId'>

/** One bounded piece of work: looks at the next `scannedMax` deliveries, within a limit of payload bytes, and returns those that match. */
export async function scan(ctx: At & Pick<Ctx, 'heavy'>, asked: Scan): Promise<Found> {
  const at = { workspaceId: ctx.workspaceId, projectId: ctx.projectId }
  const { wanted, scannedMax, limit } = asked
  const byPayload = readsPayloads(wanted)
  const byRule = wanted.ruleId !== null
  // One match more than `limit` shows that there is another page.
  const page = await scanPage(ctx.db, {
    ...at,
    ...asked,
    filter: wanted,
    limit: scannedMax,
    ruled: byRule,
    matchesMax: byPayload || byRule ? null : limit + 1,
  })
  const end = page.scanned < scannedMax
  const fitting = await filedByRule(ctx, { rows: page.rows, ruleId: wanted.ruleId })
  const { scanned } = page
  if (!byPayload) return cutOff({ rows: fitting, reached: end ? null : page.reached, scanned, looked: 0 }, limit)
  const read = withinBytes(await withResponseBytes(ctx, { rows: fitting, wanted }))
  const { looked, found } = await lookThrough(ctx, read, {
    read: (batch) => itemsOf(ctx, { rows: batch, wanted }),
    bytesOf: ({ bytes }) => bytes,
    filter: wanted,
    work: asked.work ?? new WorkCounter(LIMITS.searchWorkMax),
  })
  const whole = looked === fitting.length
  const reached = whole ? (end ? null : page.reached) : (read[looked - 1]?.id ?? null)
  return cutOff({ rows: found, reached, scanned, looked }, limit)
}

/** The payloads of deliveries, with their responses if the search reads them. */
async function itemsOf(
  ctx: At,
  { rows, wanted }: { readonly rows: readonly ScannedRow[]; readonly wanted: Wanted },
): Promise<readonly (Searched | undefined)[]> {
  const recordIds = [...new Set(rows.map((row) => row.record_id))]
  const documents = await listSearched(ctx, { recordIds, filter: wanted })
  const responses = readsResponses(wanted) ? await responsesOf(ctx, rows) : new Map<string, ResponseRow[]>()
  return rows.map((row) => {
    const searched = documents.get(row.record_id)
    return searched && { ...searched, responses: responses.get(row.id) }
  })
}

/** Rows whose size includes the responses, if the search reads them. */
async function withResponseBytes(
  ctx: At,
  { rows, wanted }: { readonly rows: readonly ScannedRow[]; readonly wanted: Wanted },
): Promise<readonly ScannedRow[]> {
  if (!readsResponses(wanted)) return rows
  const sizes = await listResponseBytes(ctx.db, { ...ctx, deliveryIds: rows.map(({ id }) => id) })
  const bytesOf = new Map(sizes.map((row) => [row.delivery_id, row.bytes]))
  return rows.map((row) => ({ ...row, bytes: row.bytes + (bytesOf.get(row.id) ?? 0) }))
}

async function responsesOf(ctx: At, rows: readonly ScannedRow[]): Promise<ReadonlyMap<string, readonly ResponseRow[]>> {
  const found = await listResponses(ctx.db, { ...ctx, deliveryIds: rows.map(({ id }) => id) })
  return Map.groupBy(found, (row) => row.delivery_id)
}

/** The rows whose record this rule filed; null: all rows. */
async function filedByRule(
  ctx: At,
  { rows, ruleId }: { readonly rows: readonly ScannedRow[]; readonly ruleId: string | null },
): Promise<readonly ScannedRow[]> {
  if (ruleId === null) return rows
  const submissionIds = [...new Set(rows.map((row) => row.submission_id))]
  const filed = new Set(await listFiledBy(ctx, { rule: encodeId('rule', ruleId), submissionIds }))
  return rows.filter((row) => filed.has(row.record_id))
}

/** The next piece finds again the matches beyond the limit. */
function cutOff(found: Found, limit: number): Found {
  const { rows, reached } = found
  return rows.length <= limit
    ? found
    : { ...found, rows: rows.slice(0, limit), reached: rows[limit - 1]?.id ?? reached }
}
