import { sql, type Db, type Sql } from '../../platform/db.ts'

type At = { readonly workspaceId: string; readonly projectId: string }

export type RecordRow = {
  readonly id: string
  readonly dataset: string
  readonly submission_id: string
  readonly received_at: Date
  /** The payload's text; taken from the submission when the record is its body. */
  readonly data: string
}

const columns: Sql = sql`r.id, r.dataset, r.submission_id, r.received_at, coalesce(r.data, s.body) as data`
const withSubmission: Sql = sql`
  records r
  join submissions s
    on s.workspace_id = r.workspace_id
   and s.project_id = r.project_id
   and s.id = r.submission_id
`

/** Newest first; `before` is the id to continue after. */
export function listRecords(
  db: Db,
  at: At & { dataset: string | null; before: string | null; limit: number },
): Promise<readonly RecordRow[]> {
  return db.many<RecordRow>(sql`
    select ${columns}
      from ${withSubmission}
     where r.workspace_id = ${at.workspaceId}
       and r.project_id = ${at.projectId}
       ${at.dataset === null ? sql`` : sql`and r.dataset = ${at.dataset}`}
       ${at.before === null ? sql`` : sql`and r.id < ${at.before}`}
     order by r.id desc
     limit ${at.limit}
  `)
}

export function findRecord(db: Db, at: At & { id: string }): Promise<RecordRow | undefined> {
  return db.maybe<RecordRow>(sql`
    select ${columns}
      from ${withSubmission}
     where r.workspace_id = ${at.workspaceId}
       and r.project_id = ${at.projectId}
       and r.id = ${at.id}
  `)
}
