import { encodeId, stateOfPassed, type Decision, type EventOrigin, type ProvenState } from '@postroad/contract'
import type { Ctx } from '../../../context.ts'
import type { StoredDecision } from '../../../domain/routing/decision/stored-decision.ts'
import { refuse } from '../../../domain/refusal.ts'
import { idRange } from '../../id-range.ts'
import { afterCursor, pageOf } from '../../page.ts'
import type { Room } from '../../verbs.ts'
import { filedBy, wholeDecision } from './decision/index.ts'
import {
  findSubmission,
  listDecisions,
  listSubmissions,
  type OriginColumns,
  type SubmissionRow,
  type VerifiedColumns,
  type WholeSubmissionRow,
} from './queries.ts'

export { present as presentListedSubmission }
export { storedDecision, wholeDecision } from './decision/index.ts'
export { scan as scanUnfiled } from './scan/index.ts'
export { listBodies } from './scan/queries.ts'
export { listStoredRoutes, type StoredRouteRow } from './stored-routes/queries.ts'

const ORIGIN_IDS = {
  source: 'source',
  cron_trigger: 'cronTrigger',
  ws_trigger: 'wsTrigger',
  workflow: 'workflowInstance',
  ai_run: 'aiRun',
  alert: 'alert',
} as const

/** Columns → the origin of an event, as the API shows it. */
export const originOf = ({ origin_kind: kind, origin_id: id }: OriginColumns): EventOrigin =>
  kind === null || id === null ? null : { kind, id: encodeId(ORIGIN_IDS[kind], id) }

/** How far an event is proven, as the API shows it. A stored event never failed. */
export const verificationOf = ({ verified_scheme: scheme }: VerifiedColumns): ProvenState =>
  stateOfPassed(scheme ?? undefined)

const present = (row: SubmissionRow) => ({
  id: encodeId('submission', row.id),
  webhook_id: row.webhook_id === null ? null : encodeId('webhook', row.webhook_id),
  ingest_key_id: row.ingest_key_id === null ? null : encodeId('ingestKey', row.ingest_key_id),
  origin: originOf(row),
  verification: verificationOf(row),
  received_at: row.received_at.toISOString(),
  source_ip: row.source_ip,
  content_type: row.content_type,
  body_bytes: row.body_size,
  record_ids: row.record_ids.map((id) => encodeId('record', id)),
})

export {
  findSubmission,
  headerTitle,
  listRecordIdsFrom,
  listStoredSizes,
  type OriginColumns,
  type StoredSizeRow,
  type VerifiedColumns,
  type WholeSubmissionRow,
  verifiedScheme,
} from './queries.ts'

export const submissions: Room<'submissions'> = {
  list: async (ctx, { limit, cursor, webhook_id, ...range }) => {
    const page = { before: afterCursor(cursor), limit: limit + 1 }
    const found = await listSubmissions(ctx.db, { ...ctx, ...idRange(range), ...page, webhookId: webhook_id ?? null })
    const { rows, next_cursor } = pageOf(found, limit)
    return { submissions: rows.map(present), next_cursor }
  },

  get: async (ctx, { id }) => {
    const row = await findSubmission(ctx.db, { ...ctx, id })
    if (row === undefined) throw refuse('not_found')
    return { submission: presentSubmission(row, await wholeDecision(ctx, row)) }
  },
}

/** Row → public shape, with query string, headers, body and decision. An export has the decision as it is stored. */
export function presentSubmission<Shown extends Decision | StoredDecision>(row: WholeSubmissionRow, decision: Shown) {
  const { query, headers, body, body_bytes, duplicates, key_reused } = row
  return {
    ...present(row),
    // Senders can only post, so the method is not stored.
    method: row.origin_kind === null ? 'POST' : null,
    query,
    headers,
    body,
    body_base64: body_bytes?.toString('base64') ?? null,
    decision,
    duplicates: duplicates ?? 0,
    key_reused: key_reused ?? false,
  }
}

/** The ids of the records that a rule filed from these submissions. */
export async function listFiledBy(
  ctx: Pick<Ctx, 'db' | 'workspaceId' | 'projectId'>,
  { rule, submissionIds }: { rule: string; submissionIds: readonly string[] },
): Promise<readonly string[]> {
  const rows = await listDecisions(ctx.db, { ...ctx, ids: submissionIds })
  return rows.flatMap((row) => filedBy(row).flatMap(([by, id]) => (by === rule ? id : [])))
}
