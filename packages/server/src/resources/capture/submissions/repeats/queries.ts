import { sql, type Db } from '../../../../platform/db.ts'

/** The repeats of a submission that a process counted since its last write. */
export type RepeatsRow = {
  readonly workspaceId: string
  readonly projectId: string
  readonly submissionId: string
  /** The hash of its key without the body, of an event that was stored; null: it was stored before. */
  readonly idHash: string | null
  readonly duplicates: number
  /** The time of the latest repeat, in milliseconds. */
  readonly at: number
}

/** Adds counts to their submissions, in one order, so processes that write the same rows do not deadlock. */
export async function addRepeats(db: Db, rows: readonly RepeatsRow[]): Promise<void> {
  // oxlint-disable-next-line house/tenant-statement -- submissions of all workspaces, each by its key
  await db.run(sql`
    with repeats as materialized (
      select row.workspace_id, row.project_id, row.submission_id, row.duplicates, to_timestamp(row.at_ms / 1000) as at,
             exists (
               select 1
                 from idempotency_keys k
                where k.workspace_id = row.workspace_id
                  and k.id_hash = decode(row.id_hash, 'hex')
                  and k.submission_id < row.submission_id
             ) as key_reused
        from unnest(${rows.map((row) => row.workspaceId)}::uuid[], ${rows.map((row) => row.projectId)}::uuid[],
                    ${rows.map((row) => row.submissionId)}::uuid[], ${rows.map((row) => row.idHash)}::text[],
                    ${rows.map((row) => row.duplicates)}::int[], ${rows.map((row) => row.at)}::float8[])
               as row (workspace_id, project_id, submission_id, id_hash, duplicates, at_ms)
    ), locked as materialized (
      select s.workspace_id, s.project_id, s.id, r.duplicates, r.at, r.key_reused
        from repeats r
        join submissions s
          on s.workspace_id = r.workspace_id
         and s.project_id = r.project_id
         and s.id = r.submission_id
       where r.duplicates > 0 or r.key_reused
       order by s.workspace_id, s.project_id, s.id
         for update of s
    )
    update submissions s
       set duplicates = case when l.duplicates > 0 then coalesce(s.duplicates, 0) + l.duplicates else s.duplicates end,
           duplicate_at = case when l.duplicates > 0 then greatest(s.duplicate_at, l.at) else s.duplicate_at end,
           key_reused = l.key_reused or s.key_reused
      from locked l
     where s.workspace_id = l.workspace_id
       and s.project_id = l.project_id
       and s.id = l.id
  `)
}
