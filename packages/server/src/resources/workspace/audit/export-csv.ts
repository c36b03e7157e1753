import type { Ctx } from '../../../context.ts'
import { hex } from '../../../domain/workspace/audit-chain.ts'
import { csvLine } from '@postroad/contract/csv'
import { encodeId } from '@postroad/contract'
import { listRows, type AuditFilter, type AuditRow } from './queries.ts'

const HEADS = ['id', 'at', 'actor', 'agent', 'action', 'target', 'ip', 'details', 'prev_hash', 'hash']
const ROWS_AT_ONCE = 500

/** Page by page, as fast as the reader takes them, with no connection held in between. A row that is newer than the first page is not in it. */
export async function exportCsv(ctx: Ctx, filter: AuditFilter): Promise<AsyncIterable<string>> {
  const pageAfter = (before: string | null): Promise<readonly AuditRow[]> =>
    listRows(ctx.db, { ...filter, workspaceId: ctx.workspaceId, before, limit: ROWS_AT_ONCE })
  // A database that is away is said with its status, before the file begins.
  return chunks(await pageAfter(null), pageAfter)
}

async function* chunks(
  first: readonly AuditRow[],
  pageAfter: (before: string) => Promise<readonly AuditRow[]>,
): AsyncGenerator<string> {
  yield csvLine(HEADS)
  for (let page = first; ;) {
    const last = page.at(-1)
    if (last === undefined) return
    yield page.map(lineOf).join('')
    if (page.length < ROWS_AT_ONCE) return
    // oxlint-disable-next-line no-await-in-loop -- a page is asked for once the one before was taken
    page = await pageAfter(last.id)
  }
}

function lineOf({ id, at, actor, agent, action, target, ip, details, prev_hash, hash }: AuditRow): string {
  return csvLine([
    encodeId('audit', id),
    at.toISOString(),
    actor,
    agent,
    action,
    target,
    ip,
    details,
    hex(prev_hash),
    hex(hash),
  ])
}
