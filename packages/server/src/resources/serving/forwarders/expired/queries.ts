import type { ForwardedContent, ForwardedSignal } from '@postroad/contract'
import type { Position } from '../../../../domain/serving/forwarding/position.ts'
import type { Snapshot } from '../../../../domain/serving/snapshot.ts'
import { sql, type Db, type Sql } from '../../../../platform/db.ts'
import { uuidv7Floor } from '../../../../platform/ids.ts'
import { moment, seenBy, unseenBy } from '../../stream/index.ts'

export type LaggingCursor = {
  readonly workspace_id: string
  readonly project_id: string
  readonly forwarder_id: string
  readonly signal: ForwardedSignal
  readonly content: readonly ForwardedContent[]
  readonly position: Position
  readonly since_ms: number
}

type Key = Pick<LaggingCursor, 'workspace_id' | 'project_id' | 'forwarder_id' | 'signal'>

/** Signals of workspaces on this plan that have not sent everything from before a time, including stopped signals. */
export function listLagging(db: Db, at: { plan: string; before: number }): Promise<readonly Key[]> {
  // oxlint-disable-next-line house/tenant-statement -- the forwarders of all workspaces
  return db.many<Key>(sql`
    select c.workspace_id, c.project_id, c.forwarder_id, c.signal
      from forwarder_cursors c
      join workspaces w on w.id = c.workspace_id and w.plan = ${at.plan}
     where (c.position ->> 'floor')::numeric < ${at.before}
       and c.since < ${new Date(at.before)}
  `)
}

/** Locks the cursor, so that no batch of it is committed meanwhile. */
export function lockCursor(db: Db, key: Key): Promise<LaggingCursor | undefined> {
  return db.maybe<LaggingCursor>(sql`
    select c.workspace_id, c.project_id, c.forwarder_id, c.signal, c.position, f.content,
           (case when c.since = '-infinity' then 0 else extract(epoch from c.since) * 1000 end)::float8 as since_ms
      from forwarder_cursors c
      join forwarders f on f.workspace_id = c.workspace_id and f.project_id = c.project_id and f.id = c.forwarder_id
     where c.workspace_id = ${key.workspace_id}
       and c.project_id = ${key.project_id}
       and c.forwarder_id = ${key.forwarder_id}
       and c.signal = ${key.signal}
       for update of c
  `)
}

export type UnsentAt = {
  readonly workspaceId: string
  readonly projectId: string
  readonly from: Snapshot
  /** The round that is under way has handled the rows up to `after` that this snapshot sees; null `after`: none of them. */
  readonly handled: { readonly to: Snapshot; readonly after: string | null } | null
  readonly floor: number
  readonly before: number
}

const TABLES: Readonly<Record<ForwardedContent, Sql>> = {
  submissions: sql`submissions`,
  attempts: sql`delivery_attempts`,
  rejections: sql`rejections`,
  workflow_instances: sql`workflow_instances`,
  ai_runs: sql`ai_runs`,
  audit: sql`audit_rows`,
}

/** Rows of one kind that were not sent, from before a time. */
export async function countUnsent(db: Db, content: ForwardedContent, at: UnsentAt): Promise<number> {
  const byEnd = content === 'workflow_instances' || content === 'ai_runs'
  const range = byEnd
    ? sql`and r.ended_at >= ${new Date(at.floor)} and r.ended_at < ${new Date(at.before)}`
    : sql`and r.id >= ${uuidv7Floor(at.floor)} and r.id < ${uuidv7Floor(at.before)}`
  const { n } = await db.one<{ n: number }>(sql`
    with m as materialized (${moment})
    select count(*)::int as n
      from m
     cross join ${TABLES[content]} r
     where r.workspace_id = ${at.workspaceId}
       ${content === 'audit' ? sql`` : sql`and r.project_id = ${at.projectId}`}
       ${range}
       ${unseenBy(at.from)}
       ${at.handled === null ? sql`` : unlessHandled(at.handled)}
  `)
  return n
}

const unlessHandled = ({ to, after }: { to: Snapshot; after: string | null }): Sql => sql`
       and not (true ${seenBy(to)} ${after === null ? sql`` : sql`and r.id <= ${after}`})`

/** Counts rows as lost, and leaves them out from now on. Raises the fence, so that a run with an earlier position ends. */
export async function putExpired(db: Db, key: Key, at: { since: Date; rows: number; now: Date }): Promise<void> {
  await db.run(sql`
    update forwarder_cursors
       set since = ${at.since},
           expired = expired + ${at.rows},
           lost_at = ${at.rows > 0 ? sql`${at.now}` : sql`lost_at`},
           fence = fence + 1,
           owner = null,
           lease_until = null
     where workspace_id = ${key.workspace_id}
       and project_id = ${key.project_id}
       and forwarder_id = ${key.forwarder_id}
       and signal = ${key.signal}
  `)
}
