import { sql, type Db } from '../../../../platform/db.ts'
import { readable } from '../../../../platform/readable-json.ts'

/** Every dataset that a retained version of these endpoints files into. */
export function listVersionDatasets(
  db: Db,
  at: { readonly workspaceId: string; readonly projectId: string; readonly ids: readonly string[] },
): Promise<readonly { webhook_id: string; dataset: string }[]> {
  return db.many(sql`
    select distinct webhook_id, ${readable(sql`config`)} ->> 'dataset' as dataset
      from webhook_versions
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
       and webhook_id = any (${at.ids}::uuid[])
  `)
}
