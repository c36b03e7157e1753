import { sql, type Db } from '../../../../platform/db.ts'
import type { RecordViewRow } from '../queries.ts'

/** The next views of a project in the order of their creation, whatever their endpoints. */
export function listViewsOfProject(
  db: Db,
  at: {
    readonly workspaceId: string
    readonly projectId: string
    readonly after: string | null
    readonly limit: number
  },
): Promise<readonly RecordViewRow[]> {
  return db.many<RecordViewRow>(sql`
    select id, webhook_id, name, columns, sort_key, sort_dir, is_default, created_at, updated_at
      from record_views
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
       and (${at.after}::uuid is null or id > ${at.after})
     order by id
     limit ${at.limit}
  `)
}
