import { FORWARDED_CONTENT, type ForwardedContent } from '@postroad/contract'
import type { Deps } from '../../../../context.ts'
import { NOTHING, readSnapshot, type Snapshot } from '../../../../domain/serving/snapshot.ts'
import type { Db } from '../../../../platform/db.ts'
import { separately } from '../../../../platform/separately.ts'
import { readMoment } from '../../stream/index.ts'
import { countUnsent, listLagging, lockCursor, putExpired, type LaggingCursor, type UnsentAt } from './queries.ts'

/** Rows that become log records only. */
const LOGS_ONLY: ReadonlySet<ForwardedContent> = new Set(['rejections', 'audit'])

/**
 * Counts the rows that retention is about to remove before forwarders have sent them. Call it before the removal. From
 * then on, the forwarders leave these rows out, also those that still exist for the rest of their day. Returns their number.
 */
export async function countExpired(deps: Deps, at: { plan: string; before: number }): Promise<number> {
  let lost = 0
  await separately(await listLagging(deps.database, at), async (key) => {
    // oxlint-disable-next-line house/verb-guards -- the plan decides, and no person acts
    lost += await deps.database.transaction(async (tx) => {
      const cursor = await lockCursor(tx, key)
      if (cursor === undefined || cursor.since_ms >= at.before) return 0
      const rows = await unsentOf(tx, { cursor, before: at.before })
      await putExpired(tx, key, { since: new Date(at.before), rows, now: new Date(deps.clock.now()) })
      return rows
    })
  })
  return lost
}

async function unsentOf(db: Db, { cursor, before }: { cursor: LaggingCursor; before: number }): Promise<number> {
  const { position, content, signal } = cursor
  const { history } = await readMoment(db)
  const isSame = history === position.history
  let rows = 0
  for (const kind of content) {
    if (signal === 'traces' && LOGS_ONLY.has(kind)) continue
    // oxlint-disable-next-line no-await-in-loop -- one transaction has one connection
    rows += await countUnsent(db, kind, {
      workspaceId: cursor.workspace_id,
      projectId: cursor.project_id,
      from: isSame ? snapshotOf(position.from) : NOTHING,
      handled: isSame ? handledOf(position, kind) : null,
      floor: Math.max(position.floor, cursor.since_ms),
      before,
    })
  }
  return rows
}

/** The part of a kind that the round under way has handled. Rounds read the kinds in one order. */
function handledOf({ round }: LaggingCursor['position'], kind: ForwardedContent): UnsentAt['handled'] {
  if (round === null) return null
  // The contract lists them in the order in which a round reads them (pipeline/forward/kinds.ts).
  const order: readonly string[] = FORWARDED_CONTENT
  const [mine, now] = [order.indexOf(kind), order.indexOf(round.kind)]
  if (mine > now || (mine === now && round.after === null)) return null
  return { to: snapshotOf(round.to), after: mine === now ? round.after : null }
}

function snapshotOf(text: string): Snapshot {
  const read = readSnapshot(text)
  if (read === undefined) throw new Error('The stored snapshot cannot be read.')
  return read
}
