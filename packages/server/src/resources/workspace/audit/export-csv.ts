import type { Ctx } from '../../../context.ts'
import { hex } from '../../../domain/workspace/audit-chain.ts'
import { csvLine } from '@postroad/contract/csv'
import { encodeId } from '@postroad/contract'
import { listRows, type AuditFilter, type AuditRow } from './queries.ts'

const HEADS = ['id', 'at', 'actor', 'agent', 'action', 'target', 'ip', 'details', 'prev_hash', 'hash']
const ROWS_AT_ONCE = 500

/** Reads page by page, as fast as the reader takes them, without a connection in between. Leaves out rows newer than the first page. */
export async function exportCsv(ctx: Ctx, filter: AuditFilter): Promise<AsyncIterable<string>> {
  const pageAfter = (before: string | null): Promise<readonly AuditRow[]> =>
    listRows(ctx.db, { ...filter, workspaceId: ctx.workspaceId, before, limit: ROWS_AT_ONCE })
  // Read before the file starts, so that an unreachable database still gives an error status.
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
    // oxlint-disable-next-line no-await-in-loop -- each page is read after the reader took the previous one
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
