import { LIMITS } from '@postroad/contract'
import { sql, type Db, type Sql } from '../../../platform/db.ts'

/** What rooms do to lanes, and the requests whose end nobody will hear of. The engine's own statements are beside it, in pipeline/deliver. */
export type LaneAt = { readonly workspaceId: string; readonly destinationId: string }

/** By hand: what was noted of its breaker says nothing any more, and its next owner need not wait. */
export function closeBreaker(db: Db, at: LaneAt): Promise<number> {
  return db.run(sql`
    update lanes
       set breaker_resets = breaker_resets + 1,
           waits_until = null
     where workspace_id = ${at.workspaceId}
       and destination_id = ${at.destinationId}
  `)
}

/** The next probe of its open breaker goes at once, whoever holds the lane. */
export function askProbe(db: Db, at: LaneAt): Promise<number> {
  return db.run(sql`
    update lanes
       set probes_asked = probes_asked + 1,
           waits_until = null
     where workspace_id = ${at.workspaceId}
       and destination_id = ${at.destinationId}
  `)
}

/** From now on deliveries of this lane may have keys, and are looked for by them. */
export function keepOrder(db: Db, at: LaneAt): Promise<number> {
  return db.run(sql`
    update lanes
       set ordered = true
     where workspace_id = ${at.workspaceId}
       and destination_id = ${at.destinationId}
       and not ordered
  `)
}

/** Orphans are requests whose end nobody will hear of. Nothing here is asked while every sender lives. */

/** A setting is known to every sender after this time. */
const SETTLED_MS = 60_000

/**
 * Keeps the attempts of a table `orphan` of the statement. A request leaves soon after its begin or never, and ends within its timeout; if
 * the destination has just been changed, that may have been any.
 */
export const keepOrphans: Sql = sql`
    insert into orphaned_requests (workspace_id, destination_id, attempt_id, ends_by)
    select t.workspace_id, t.id, orphan.attempt_id,
           orphan.started_at + interval '1 ms' * (${LIMITS.beginToSendMsMax}::int + case
             when t.updated_at > t.created_at and t.updated_at > orphan.started_at - interval '1 ms' * ${SETTLED_MS}::int then ${LIMITS.deliveryTimeoutMsMax}::int
             else t.timeout_ms
           end)
      from orphan
      join destinations t on t.workspace_id = orphan.workspace_id and t.id = orphan.destination_id
`

export type OrphanRow = { readonly workspace_id: string; readonly destination_id: string; readonly ends_by: Date }

/** What may be under way in these lanes for all that a new owner can know. */
export function findOrphans(
  db: Db,
  at: { lanes: readonly { readonly workspaceId: string; readonly destinationId: string }[]; now: Date },
): Promise<readonly OrphanRow[]> {
  return db.many<OrphanRow>(sql`
    select o.workspace_id, o.destination_id, o.ends_by
      from unnest(
             ${at.lanes.map((lane) => lane.workspaceId)}::uuid[],
             ${at.lanes.map((lane) => lane.destinationId)}::uuid[]
           ) as given (workspace_id, destination_id)
      join orphaned_requests o using (workspace_id, destination_id)
     where o.ends_by > ${at.now}
  `)
}

/** Those that ended before this moment. */
export function deleteEndedOrphans(db: Db, before: Date): Promise<number> {
  // oxlint-disable-next-line house/tenant-statement -- upkeep prunes every workspace
  return db.run(sql`
    delete from orphaned_requests
     where ends_by < ${before}
  `)
}
