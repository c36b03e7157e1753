import { LIMITS } from '@postroad/contract'
import { asSystem } from '../../../as-system.ts'
import type { Deps } from '../../../context.ts'
import { hex } from '../../../domain/workspace/audit-chain.ts'
import { limitsOf } from '../../../domain/workspace/plan.ts'
import { SeparateRows, type LoopWork } from '../../../platform/separate-rows.ts'
import { inTransaction } from '../../../transaction.ts'
import { openAnchor, sealAnchor } from './anchor.ts'
import { chainsWithRowsBefore, deleteChainUpTo, lockAnchor, listChain, putAnchor } from './queries.ts'

const DAY_MS = 86_400_000
const ROWS_AT_ONCE = 1_000

/**
 * Removes rows whose retention under the plan of their workspace has expired, from the start of each chain. The anchor stores the new
 * start, so that the chain still verifies. The rows of a closed workspace are retained for the same time.
 */
export async function pruneAudit(deps: Deps): Promise<Pick<LoopWork, 'failed'>> {
  const now = deps.clock.now()
  const rows = new SeparateRows(deps.retryLog, 'audit.not_pruned')
  let removed = 0
  const chains = await chainsWithRowsBefore(deps.database, new Date(now - LIMITS.auditDaysMin * DAY_MS))
  for (const { workspaceId, plan } of chains) {
    const days = plan === null ? LIMITS.auditDaysMin : limitsOf(deps.plans, plan).audit_retention_days
    if (days === null) continue
    const work = () => pruneWhole(deps, { workspaceId, before: now - days * DAY_MS })
    // oxlint-disable-next-line no-await-in-loop -- one chain after another
    removed += (await rows.run({ kind: 'workspace', id: workspaceId }, work)) ?? 0
  }
  if (removed > 0) deps.log.debug('audit.pruned', { rows: removed })
  return { failed: rows.failed.length }
}

/** In pieces, so that no writer waits long for the end of the chain. */
async function pruneWhole(deps: Deps, of: { workspaceId: string; before: number }): Promise<number> {
  let removed = 0
  for (let last = ROWS_AT_ONCE; last === ROWS_AT_ONCE; removed += last) {
    // oxlint-disable-next-line no-await-in-loop -- one piece after another
    last = await pruneChain(deps, of)
  }
  return removed
}

/** One piece of one chain. A chain without its anchor is left as it is, because missing rows must stay visible. */
function pruneChain(deps: Deps, { workspaceId, before }: { workspaceId: string; before: number }): Promise<number> {
  // oxlint-disable-next-line house/verb-guards -- the anchor counts the removed rows; an audit row for each removal would make the log grow
  return inTransaction(asSystem(deps, { workspaceId, projectId: '', requestId: 'audit' }), async ({ db, cipher }) => {
    const sealed = await lockAnchor(db, workspaceId)
    const anchor = sealed === null ? undefined : openAnchor(cipher, sealed, workspaceId)
    if (anchor === undefined) return 0
    const page = await listChain(db, { workspaceId, after: null, limit: ROWS_AT_ONCE })
    const kept = page.findIndex((row) => row.at.getTime() >= before)
    const old = kept < 0 ? page : page.slice(0, kept)
    const last = old.at(-1)
    if (last === undefined) return 0
    const removed = await deleteChainUpTo(db, { workspaceId, last: last.id })
    await putAnchor(db, {
      workspaceId,
      sealed: sealAnchor(cipher, { ...anchor, removed: anchor.removed + removed, tail: hex(last.hash) }, workspaceId),
    })
    return removed
  })
}
