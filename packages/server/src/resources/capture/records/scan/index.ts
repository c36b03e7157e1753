import { encodeId } from '@postroad/contract'
import type { Ctx } from '../../../../context.ts'
import { listPayloads, lookThrough, readsPayloads, withinBytes, type PayloadFilter } from '../../payloads/index.ts'
import type { PacedWork } from '../../../../platform/paced-work.ts'
import { listFiledBy } from '../../submissions/index.ts'
import type { RecordRow } from '../queries.ts'
import { scanRecords, type ScannedRecordRow, type WantedDelivery } from './queries.ts'

export type RecordScan = PayloadFilter & {
  readonly dataset: string | null
  readonly webhookId: string | null
  /** The rule that filed the record. */
  readonly ruleId: string | null
  readonly delivery: WantedDelivery | null
  readonly after: string | null
  readonly before: string | null
  readonly limit: number
  readonly scannedMax: number
  /** The work budget for reading payloads. When it is used up, the piece ends early. */
  readonly work: PacedWork
}

export type FoundRecords = {
  readonly rows: readonly RecordRow[]
  readonly reached: string | null
  readonly scanned: number
}

/** One bounded piece of a search: the matches among the next records, newest first. `reached` is null at the end. */
export async function scan(
  ctx: Pick<Ctx, 'db' | 'workspaceId' | 'projectId'>,
  asked: RecordScan,
): Promise<FoundRecords> {
  const at = { workspaceId: ctx.workspaceId, projectId: ctx.projectId }
  const page = await scanRecords(ctx.db, { ...at, ...asked, limit: asked.scannedMax })
  const byRule = await filedByRule(ctx, { page, ruleId: asked.ruleId })
  const fitting = page.filter(
    (row) =>
      row.has_delivery &&
      (asked.webhookId === null || row.webhook_id === asked.webhookId) &&
      (byRule === undefined || byRule.has(row.id)),
  )
  const read = withinBytes(readsPayloads(asked) ? fitting : fitting.slice(0, asked.limit))
  const payloads = new Map(
    (await listPayloads(ctx.db, { ...at, recordIds: read.map((row) => row.id) })).map((row) => [row.id, row.data]),
  )
  const { looked, found } = await lookThrough(read, {
    payloadOf: (row) => payloads.get(row.id),
    filter: asked,
    work: asked.work,
  })
  const rows = found.slice(0, asked.limit).map((row) => ({ ...row, data: payloads.get(row.id) ?? '' }))
  // The last record looked at: the last one returned when there are more matches, or the last one read when the budget ended early.
  const last =
    found.length > rows.length
      ? rows.at(-1)
      : looked < fitting.length
        ? read[looked - 1]
        : endOf(page, asked.scannedMax)
  return {
    rows,
    reached: last?.id ?? null,
    scanned: last === undefined ? page.length : page.findIndex(({ id }) => id === last.id) + 1,
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

/** The last row of a full page; undefined when nothing follows. */
const endOf = (page: readonly ScannedRecordRow[], scannedMax: number): ScannedRecordRow | undefined =>
  page.length < scannedMax ? undefined : page.at(-1)
