import { sql, type Db } from '../../../../platform/db.ts'

export type OfWebhook = { readonly workspaceId: string; readonly projectId: string; readonly webhookId: string }

export type RecordColumnsRow = {
  readonly scanned_to: string
  readonly last_seen: string
  readonly missed_at: string | null
}

export function findRecordColumns(db: Db, at: OfWebhook): Promise<RecordColumnsRow | undefined> {
  return db.maybe<RecordColumnsRow>(sql`
    select scanned_to, last_seen, missed_at
      from record_columns
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
       and webhook_id = ${at.webhookId}
  `)
}

/** The row with the later position wins, as it has everything up to there. Stores nothing for a deleted webhook. */
export async function saveRecordColumns(db: Db, row: OfWebhook & RecordColumnsRow): Promise<void> {
  await db.run(sql`
    insert into record_columns (workspace_id, project_id, webhook_id, scanned_to, last_seen, missed_at)
    select workspace_id, project_id, id, ${row.scanned_to}::uuid, ${row.last_seen}::text, ${row.missed_at}::uuid
      from webhooks
     where workspace_id = ${row.workspaceId}
       and project_id = ${row.projectId}
       and id = ${row.webhookId}
       for key share
        on conflict (workspace_id, project_id, webhook_id) do update
       set scanned_to = excluded.scanned_to,
           last_seen = excluded.last_seen,
           missed_at = excluded.missed_at
     where record_columns.scanned_to < excluded.scanned_to
  `)
}

/** The oldest retained submission of the webhook. */
export async function findOldestSubmission(db: Db, at: OfWebhook): Promise<string | undefined> {
  const row = await db.maybe<{ id: string }>(sql`
    select id
      from submissions
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
       and webhook_id = ${at.webhookId}
     order by id
     limit 1
  `)
  return row?.id
}

/**
 * The next submissions after one id and up to another, oldest first, each with the payload of its record; null: the record is gone. Reads
 * at most `bytesMax` of payloads, plus the payload that exceeds it.
 */
export function listPayloadsAfter(
  db: Db,
  at: OfWebhook & { after: string; upTo: string; limit: number; bytesMax: number },
): Promise<readonly { submission_id: string; data: string | null }[]> {
  return db.many<{ submission_id: string; data: string | null }>(sql`
    select submission_id, data
      from (
             select s.id as submission_id, coalesce(r.data, s.body) as data,
                    sum(octet_length(coalesce(r.data, s.body)))
                      over (order by s.id rows between unbounded preceding and 1 preceding) as older_bytes
               from (
                      select id, body, record_ids
                        from submissions
                       where workspace_id = ${at.workspaceId}
                         and project_id = ${at.projectId}
                         and webhook_id = ${at.webhookId}
                         and id > ${at.after}
                         and id <= ${at.upTo}
                         and record_ids <> '{}'
                       order by id
                       limit ${at.limit}
                    ) s
               left join lateral (
                      select data
                        from records
                       where workspace_id = ${at.workspaceId}
                         and project_id = ${at.projectId}
                         and id = s.record_ids[1]
                      offset 0
                    ) r on true
           ) sized
     where coalesce(older_bytes, 0) < ${at.bytesMax}
     order by submission_id
  `)
}
