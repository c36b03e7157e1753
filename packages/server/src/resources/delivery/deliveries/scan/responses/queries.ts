import type { StoredResponse } from '../../../../../domain/delivery/searched-response.ts'
import { sql, type Db } from '../../../../../platform/db.ts'

type OfDeliveries = {
  readonly workspaceId: string
  readonly projectId: string
  readonly deliveryIds: readonly string[]
}

/** The size of all responses to each of these deliveries. */
export function listResponseBytes(
  db: Db,
  at: OfDeliveries,
): Promise<readonly { readonly delivery_id: string; readonly bytes: number }[]> {
  return db.many<{ delivery_id: string; bytes: number }>(sql`
    select delivery_id, sum(coalesce(octet_length(response_body), 0))::float8 as bytes
      from delivery_attempts
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
       and delivery_id = any (${at.deliveryIds}::uuid[])
     group by delivery_id
  `)
}

export type ResponseRow = StoredResponse & { readonly delivery_id: string }

/** All responses to these deliveries, newest first. */
export function listResponses(db: Db, at: OfDeliveries): Promise<readonly ResponseRow[]> {
  return db.many<ResponseRow>(sql`
    select delivery_id, response_status, response_headers, response_body, error_code, error_detail
      from delivery_attempts
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
       and delivery_id = any (${at.deliveryIds}::uuid[])
       and outcome is not null
     order by id desc
  `)
}
