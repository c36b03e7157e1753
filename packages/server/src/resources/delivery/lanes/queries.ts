import { LIMITS } from '@postroad/contract'
import { sql, type Db, type Sql } from '../../../platform/db.ts'

/** The changes that rooms make to lanes, and the requests without a sender to settle them. The statements of the engine are in pipeline/deliver. */
export type LaneAt = { readonly workspaceId: string; readonly destinationId: string }

/** A person closes the breaker: its stored state no longer counts, and the next owner need not wait. */
export function closeBreaker(db: Db, at: LaneAt): Promise<number> {
  return db.run(sql`
    update lanes
       set breaker_resets = breaker_resets + 1,
           waits_until = null
     where workspace_id = ${at.workspaceId}
       and destination_id = ${at.destinationId}
  `)
}

/** Lets the next probe of an open breaker go immediately, whichever process has the lane. */
export function askProbe(db: Db, at: LaneAt): Promise<number> {
  return db.run(sql`
    update lanes
       set probes_asked = probes_asked + 1,
           waits_until = null
     where workspace_id = ${at.workspaceId}
       and destination_id = ${at.destinationId}
  `)
}

/** The lanes of the destinations of a project. */
export function listLanesOfProject(
  db: Db,
  at: { readonly workspaceId: string; readonly projectId: string },
): Promise<readonly LaneAt[]> {
  return db.many<LaneAt>(sql`
    select workspace_id as "workspaceId", id as "destinationId"
      from destinations
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
     order by id
  `)
}

/** From now on, deliveries of this lane may have keys, and turns check them. */
export function keepOrder(db: Db, at: LaneAt): Promise<number> {
  return db.run(sql`
    update lanes
       set ordered = true
     where workspace_id = ${at.workspaceId}
       and destination_id = ${at.destinationId}
       and not ordered
  `)
}

/** After this time every sender knows a changed setting. */
const SETTLED_MS = 60_000

/**
 * Stores the attempts of the table `orphan` of the statement. A request leaves soon after its attempt starts, or never, and it ends within
 * the timeout of the destination. If the destination changed shortly before, that timeout may have been up to the maximum.
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

/** The requests that may still be under way in these lanes, as far as a new owner can know. */
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

/** Deletes the orphans that ended before this time. */
export function deleteEndedOrphans(db: Db, before: Date): Promise<number> {
  // oxlint-disable-next-line house/tenant-statement -- upkeep prunes every workspace
  return db.run(sql`
    delete from orphaned_requests
     where ends_by < ${before}
  `)
}
