import { LIMITS } from '@postroad/contract'
import { sql, texts, type Db } from '../../../platform/db.ts'
import type { Drift } from '../../../domain/capture/dataset-schema.ts'

export type OfDataset = { readonly workspaceId: string; readonly projectId: string; readonly datasetId: string }

export type SchemaRow = { readonly read_to: string; readonly learned_at: Date; readonly content: string }

export function findSchema(db: Db, at: OfDataset & { lock?: boolean }): Promise<SchemaRow | undefined> {
  return db.maybe<SchemaRow>(sql`
    select read_to, learned_at, content
      from dataset_schemas
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
       and dataset_id = ${at.datasetId}
     ${at.lock === true ? sql`for update` : sql``}
  `)
}

/** Stores nothing for a dataset that was deleted meanwhile. */
export async function saveSchema(db: Db, row: OfDataset & SchemaRow): Promise<void> {
  await db.run(sql`
    insert into dataset_schemas (workspace_id, project_id, dataset_id, read_to, learned_at, content)
    select workspace_id, project_id, id, ${row.read_to}::uuid, ${row.learned_at}::timestamptz, ${row.content}::text
      from datasets
     where workspace_id = ${row.workspaceId}
       and project_id = ${row.projectId}
       and id = ${row.datasetId}
       for key share
        on conflict (workspace_id, project_id, dataset_id) do update
       set read_to = excluded.read_to,
           learned_at = excluded.learned_at,
           content = excluded.content
  `)
}

export type UnreadDataset = {
  readonly workspace_id: string
  readonly project_id: string
  readonly id: string
  readonly name: string
}

/** Datasets of all workspaces that were not read since `learnedBefore` and have records up to `settled`, the longest unread first. */
export function listUnreadDatasets(
  db: Db,
  at: { settled: string; learnedBefore: Date; without: readonly string[]; limit: number },
): Promise<readonly UnreadDataset[]> {
  // oxlint-disable-next-line house/tenant-statement -- the loop reads the datasets of every workspace
  return db.many<UnreadDataset>(sql`
    select d.workspace_id, d.project_id, d.id, d.name
      from datasets d
      left join dataset_schemas s
        on s.workspace_id = d.workspace_id
       and s.project_id = d.project_id
       and s.dataset_id = d.id
     where (s.learned_at is null or s.learned_at <= ${at.learnedBefore})
       and d.id <> all (${at.without}::uuid[])
       and exists (
             select 1
               from records r
              where r.workspace_id = d.workspace_id
                and r.project_id = d.project_id
                and r.dataset = d.name
                and r.id > coalesce(s.read_to, '00000000-0000-0000-0000-000000000000'::uuid)
                and r.id < ${at.settled}::uuid
           )
     order by s.learned_at nulls first
     limit ${at.limit}
  `)
}

export type UnreadRecord = { readonly id: string; readonly received_at: Date; readonly data: string | null }

/** The next records of a dataset, oldest first. `data` is null for a record that is too large to be read. */
export function listUnreadRecords(
  db: Db,
  at: Omit<OfDataset, 'datasetId'> & {
    dataset: string
    after: string
    before: string
    limit: number
    bytesMax: number
  },
): Promise<readonly UnreadRecord[]> {
  return db.many<UnreadRecord>(sql`
    select r.id, r.received_at,
           case when octet_length(coalesce(r.data, s.body)) <= ${at.bytesMax}
                 and sum(octet_length(coalesce(r.data, s.body))) over (order by r.id) <= ${LIMITS.datasetSampleBytesMax}
                then coalesce(r.data, s.body) end as data
      from (
             select id, submission_id, received_at, data
               from records
              where workspace_id = ${at.workspaceId}
                and project_id = ${at.projectId}
                and dataset = ${at.dataset}
                and id > ${at.after}
                and id < ${at.before}
              order by id
              limit ${at.limit}
           ) r
      left join submissions s
        on s.workspace_id = ${at.workspaceId}
       and s.project_id = ${at.projectId}
       and s.id = r.submission_id
     order by r.id
  `)
}

export type NewDrift = Drift & { readonly id: string; readonly record_id: string; readonly at: Date }

export async function insertDrifts(db: Db, of: OfDataset, drifts: readonly NewDrift[]): Promise<void> {
  await db.run(sql`
    insert into dataset_drifts (workspace_id, project_id, dataset_id, id, kind, path, type, record_id, at)
    select ${of.workspaceId}::uuid, ${of.projectId}::uuid, ${of.datasetId}::uuid, id, kind, path, type, record_id, at
      from unnest(${drifts.map(({ id }) => id)}::uuid[],
                  ${drifts.map(({ kind }) => kind)}::text[],
                  ${texts(drifts.map(({ path }) => path))},
                  ${drifts.map(({ type }) => type)}::text[],
                  ${drifts.map(({ record_id }) => record_id)}::uuid[],
                  ${drifts.map(({ at }) => at)}::timestamptz[]) as drift (id, kind, path, type, record_id, at)
  `)
}

/** Deletes all but the newest changes of a dataset. */
export async function pruneDrifts(db: Db, at: OfDataset & { retained: number }): Promise<void> {
  await db.run(sql`
    delete from dataset_drifts
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
       and dataset_id = ${at.datasetId}
       and id < (
             select min(id::text)::uuid
               from (
                      select id
                        from dataset_drifts
                       where workspace_id = ${at.workspaceId}
                         and project_id = ${at.projectId}
                         and dataset_id = ${at.datasetId}
                       order by id desc
                       limit ${at.retained}
                    ) newest
           )
  `)
}

export type DriftRow = Omit<NewDrift, 'id'> & { readonly id: string }

/** Newest first. */
export function listDrifts(db: Db, at: OfDataset & { limit: number }): Promise<readonly DriftRow[]> {
  return db.many<DriftRow>(sql`
    select id, kind, path, type, record_id, at
      from dataset_drifts
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
       and dataset_id = ${at.datasetId}
     order by id desc
     limit ${at.limit}
  `)
}
