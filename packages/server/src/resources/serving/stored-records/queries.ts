import { sql, type Db } from '../../../platform/db.ts'

export type ReadableDataset = {
  readonly name: string
  readonly description: string | null
  readonly last_record_at: Date | null
}

/** The datasets of a project by name, all of them or those with these names. */
export function listReadableDatasets(
  db: Db,
  at: { workspaceId: string; projectId: string; names: readonly string[] | null },
): Promise<readonly ReadableDataset[]> {
  return db.many<ReadableDataset>(sql`
    select d.name, d.description,
           (select r.received_at
              from records r
             where r.workspace_id = d.workspace_id
               and r.project_id = d.project_id
               and r.dataset = d.name
             order by r.id desc
             limit 1) as last_record_at
      from datasets d
     where d.workspace_id = ${at.workspaceId}
       and d.project_id = ${at.projectId}
       and (${at.names}::text[] is null or d.name = any (${at.names}::text[]))
     order by d.name
  `)
}
