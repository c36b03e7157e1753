import { sql, type Db } from '../../../platform/db.ts'
import type { IdRange } from '../../id-range.ts'
import type { StoredRecord } from '../stored-records/index.ts'

/** The next records of a dataset, oldest first. Returns at least one, if there is one, and no further one once `bytesMax` are full. */
export function listStoredAfter(
  db: Db,
  at: IdRange & {
    workspaceId: string
    projectId: string
    dataset: string
    after: string
    limit: number
    bytesMax: number
  },
): Promise<readonly StoredRecord[]> {
  return db.many<StoredRecord>(sql`
    select id, dataset, received_at, data
      from (
             select r.id, r.dataset, r.received_at, coalesce(r.data, s.body) as data,
                    sum(octet_length(coalesce(r.data, s.body)))
                      over (order by r.id rows between unbounded preceding and 1 preceding) as older_bytes
               from (
                      select id, dataset, submission_id, received_at, data
                        from records
                       where workspace_id = ${at.workspaceId}
                         and project_id = ${at.projectId}
                         and dataset = ${at.dataset}
                         and id > ${at.after}
                         ${at.fromId === null ? sql`` : sql`and id >= ${at.fromId}`}
                         ${at.toId === null ? sql`` : sql`and id < ${at.toId}`}
                       order by id
                       limit ${at.limit}
                    ) r
               join submissions s
                 on s.workspace_id = ${at.workspaceId}
                and s.project_id = ${at.projectId}
                and s.id = r.submission_id
           ) sized
     where coalesce(older_bytes, 0) < ${at.bytesMax}
     order by id
  `)
}
