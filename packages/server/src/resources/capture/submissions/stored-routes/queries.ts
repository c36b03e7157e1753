import { sql, type Db } from '../../../../platform/db.ts'
import type { StoredSizeRow } from '../queries.ts'

/** A stored payload by its size, and the part of the project that routed it. */
export type StoredRouteRow = StoredSizeRow & {
  readonly webhook_id: string | null
  readonly source_ip: string | null
  /** The request came by POST /v1/ingest/{key} without a dataset. */
  readonly reached_rules: boolean
  /** The number of workflows and agents that led to the submission's records. */
  readonly hops: number
  /** The dataset of the first record; null: none was filed. */
  readonly dataset: string | null
}

/** The newest payloads of a project, without their bodies: with a total of at most `bytesMax`, plus the payload that exceeds it. */
export function listStoredRoutes(
  db: Db,
  at: {
    readonly workspaceId: string
    readonly projectId: string
    readonly limit: number
    readonly bytesMax: number
  },
): Promise<readonly StoredRouteRow[]> {
  return db.many<StoredRouteRow>(sql`
    select id, received_at, bytes, webhook_id, source_ip,
           webhook_id is null and decision::text ~ '^[{]("verified_scheme":"[a-z_]+",)?"rules":' as reached_rules,
           first.dataset, coalesce(first.hops, 0) as hops
      from (
             select id, received_at, body_size as bytes, webhook_id, source_ip, decision, record_ids,
                    sum(body_size) over (order by id desc rows between unbounded preceding and 1 preceding) as newer_bytes
               from (
                      select id, received_at, body_size, webhook_id, source_ip, decision, record_ids
                        from submissions
                       where workspace_id = ${at.workspaceId}
                         and project_id = ${at.projectId}
                       order by id desc
                       limit ${at.limit}
                    ) newest
           ) sized
      left join lateral (
             select dataset, hops
               from records
              where workspace_id = ${at.workspaceId}
                and project_id = ${at.projectId}
                and id = sized.record_ids[1]
           ) first on true
     where coalesce(newer_bytes, 0) < ${at.bytesMax}
     order by id desc
  `)
}
