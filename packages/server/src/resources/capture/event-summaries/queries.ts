import type { EventTitle } from '@postroad/contract'
import { sql, type Db } from '../../../platform/db.ts'
import { headerTitle } from '../submissions/index.ts'

export type EventStartRow = {
  readonly id: string
  readonly header_title: string | null
  /** The present setting of the endpoint that received the event. */
  readonly event_title: EventTitle
  /** The first characters of the payload. */
  readonly start: string
}

/** The starts of these records: PostgreSQL reads only that part of a long payload. Each is looked up by its key. */
export function listEventStarts(
  db: Db,
  at: { workspaceId: string; projectId: string; recordIds: readonly string[]; charsMax: number },
): Promise<readonly EventStartRow[]> {
  return db.many<EventStartRow>(sql`
    select r.id, s.header_title, s.event_title, left(coalesce(r.data, s.body), ${at.charsMax}::int) as start
      from unnest(${at.recordIds}::uuid[]) as given (id)
     cross join lateral (
             select id, submission_id, data
               from records
              where workspace_id = ${at.workspaceId}
                and project_id = ${at.projectId}
                and id = given.id
             offset 0
           ) r
     cross join lateral (
             select s.body, ${headerTitle} as header_title,
                    (select w.event_title
                       from webhooks w
                      where w.workspace_id = s.workspace_id
                        and w.project_id = s.project_id
                        and w.id = s.webhook_id) as event_title
               from submissions s
              where s.workspace_id = ${at.workspaceId}
                and s.project_id = ${at.projectId}
                and s.id = r.submission_id
             offset 0
           ) s
  `)
}
