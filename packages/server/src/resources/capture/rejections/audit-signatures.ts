import { encodeId } from '@postroad/contract'
import { asSystem } from '../../../as-system.ts'
import type { Deps } from '../../../context.ts'
import { SeparateRows, type LoopWork } from '../../../platform/separate-rows.ts'
import { inTransaction } from '../../../transaction.ts'
import { audit } from '../../workspace/audit/index.ts'
import { setAudited, unauditedMinutes, type AuditedRow, type UnauditedMinute } from './queries.ts'

/** Time from the start of a minute: its length, the longest arrival of a request, and the time to write the counts. */
const CLOSED_AFTER_MS = 60_000 + 30_000 + 10_000
const MINUTES_AT_ONCE = 500
/** The number of audit rows that a minute may get while it lasts. All further refusals share one more row after its end. */
const ROWS_SOON_MAX = 5

/**
 * Writes the audit rows `ingest_signature_rejected`. They are chained, so none is ever changed: each refusal gets its row within seconds,
 * until a credential's minute has five. All further ones share one more row after the end of the minute (docs/adr/0011).
 */
export async function auditSignatures(deps: Deps): Promise<Pick<LoopWork, 'failed'>> {
  const rows = new SeparateRows(deps.retryLog, 'rejections.not_audited')
  const at = { closedBefore: deps.clock.now() - CLOSED_AFTER_MS, rowsSoonMax: ROWS_SOON_MAX, limit: MINUTES_AT_ONCE }
  for (let without: readonly string[] | undefined; without?.length !== rows.failed.length;) {
    without = rows.failed
    // oxlint-disable-next-line no-await-in-loop -- projects that fail make room for the next ones in the same run
    for (const minute of await unauditedMinutes(deps.database, { ...at, without }))
      // oxlint-disable-next-line no-await-in-loop -- one chain at a time
      await rows.run({ kind: 'project', id: minute.projectId }, () => auditMinute(deps, minute))
  }
  return { failed: rows.failed.length }
}

function auditMinute(deps: Deps, minute: UnauditedMinute): Promise<void> {
  const { workspaceId, projectId, webhookId, ingestKeyId } = minute
  return inTransaction(asSystem(deps, { workspaceId, projectId, requestId: 'audit' }), async (tx) => {
    const audited = await setAudited(tx.db, minute)
    const latest = latestOf(audited)
    if (latest === undefined) return
    await audit(
      { ...tx, ip: latest.source_ip ?? undefined },
      {
        action: 'ingest_signature_rejected',
        ...(webhookId === null ? {} : { target: encodeId('webhook', webhookId) }),
        details: {
          minute: minute.minute.toISOString(),
          count: audited.reduce((sum, { count }) => sum + count, 0),
          reasons: Object.fromEntries(audited.map(({ reason, count }) => [reason, count])),
          ...(ingestKeyId === null ? {} : { ingest_key_id: encodeId('ingestKey', ingestKeyId) }),
        },
      },
    )
  })
}

function latestOf(audited: readonly AuditedRow[]): AuditedRow | undefined {
  return audited.toSorted((a, b) => b.at.getTime() - a.at.getTime())[0]
}
