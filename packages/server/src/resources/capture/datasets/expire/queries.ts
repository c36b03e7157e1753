import { sql, type Db } from '../../../../platform/db.ts'

export type Expiring = {
  readonly workspace_id: string
  readonly project_id: string
  readonly id: string
  readonly name: string
  /** Records with a lower id are erased. */
  readonly before: string
  /** The row of a deleted dataset; null: the dataset exists, with a shorter retention. */
  readonly deletion: string | null
}

/** The next deleted datasets of all workspaces with records to erase, by id. */
export function listDeletedDatasets(db: Db, at: { after: string; limit: number }): Promise<readonly Expiring[]> {
  // oxlint-disable-next-line house/tenant-statement -- the loop erases for every workspace
  return db.many<Expiring>(sql`
    select workspace_id, project_id, id, name, before, id as deletion
      from deleted_datasets
     where id > ${at.after}
     order by id
     limit ${at.limit}
  `)
}

/** The next datasets of all workspaces with a retention and with records that are older than it, by id. */
export function listShorterDatasets(
  db: Db,
  at: { after: string; now: Date; limit: number },
): Promise<readonly Expiring[]> {
  // oxlint-disable-next-line house/tenant-statement -- the loop erases for every workspace
  return db.many<Expiring>(sql`
    select d.workspace_id, d.project_id, d.id, d.name, retained.since as before, null::uuid as deletion
      from datasets d
     cross join lateral (
             select (lpad(to_hex((extract(epoch from date_trunc('day', ${at.now}::timestamptz, 'UTC')) * 1000)::bigint
                                 - d.retention_days::bigint * 86400000), 12, '0') || '00000000000000000000')::uuid as since
             offset 0
           ) retained
     where d.retention_days is not null
       and d.id > ${at.after}
       and exists (
             select 1
               from records r
              where r.workspace_id = d.workspace_id
                and r.project_id = d.project_id
                and r.dataset = d.name
                and r.id < retained.since
           )
     order by d.id
     limit ${at.limit}
  `)
}

export type Piece = { readonly id: string; readonly submission_id: string; readonly outstanding: boolean }
type At = { readonly workspaceId: string; readonly projectId: string }

/** The next records of a dataset before an id, oldest first, and whether one of their deliveries has not ended. */
export function listExpiredRecords(
  db: Db,
  at: At & { dataset: string; after: string; before: string; limit: number },
): Promise<readonly Piece[]> {
  return db.many<Piece>(sql`
    select r.id, r.submission_id,
           exists (
             select 1
               from deliveries d
              where d.workspace_id = ${at.workspaceId}
                and d.project_id = ${at.projectId}
                and d.record_id = r.id
                and d.state in ('pending', 'sending', 'retrying', 'paused')
           ) as outstanding
      from (
             select id, submission_id
               from records
              where workspace_id = ${at.workspaceId}
                and project_id = ${at.projectId}
                and dataset = ${at.dataset}
                and id > ${at.after}
                and id < ${at.before}
              order by id
              limit ${at.limit}
           ) r
     order by r.id
  `)
}

/** Erases records with their ended deliveries, and the submissions that have no other record. Returns how many records. */
export async function eraseRecords(db: Db, at: At & { pieces: readonly Piece[] }): Promise<number> {
  const recordIds = at.pieces.map(({ id }) => id)
  await db.run(sql`
    with piece as materialized (
           select id
             from deliveries
            where workspace_id = ${at.workspaceId}
              and project_id = ${at.projectId}
              and record_id = any (${recordIds}::uuid[])
              and state not in ('pending', 'sending', 'retrying', 'paused')
              for update
         ),
         attempts as (
           delete from delivery_attempts
            where workspace_id = ${at.workspaceId}
              and delivery_id = any (array(select id from piece))
         )
    delete from deliveries
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
       and id = any (array(select id from piece))
  `)
  const erased = await db.run(sql`
    delete from records r
     where r.workspace_id = ${at.workspaceId}
       and r.project_id = ${at.projectId}
       and r.id = any (${recordIds}::uuid[])
       and not exists (
             select 1
               from deliveries d
              where d.workspace_id = ${at.workspaceId}
                and d.project_id = ${at.projectId}
                and d.record_id = r.id
           )
  `)
  await db.run(sql`
    delete from submissions s
     where s.workspace_id = ${at.workspaceId}
       and s.project_id = ${at.projectId}
       and s.id = any (${[...new Set(at.pieces.map(({ submission_id }) => submission_id))]}::uuid[])
       and not exists (
             select 1
               from records r
              where r.workspace_id = ${at.workspaceId}
                and r.project_id = ${at.projectId}
                and r.id = any (s.record_ids)
           )
  `)
  return erased
}

/** Ends a deletion after all of its records were erased. */
export async function endDeletion(db: Db, at: At & { id: string }): Promise<void> {
  await db.run(sql`
    delete from deleted_datasets
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
       and id = ${at.id}
  `)
}

/**
 * Creates the dataset again if a process that had not heard of its deletion stored records in it. Returns how many datasets.
 */
export function recreateIfUsed(
  db: Db,
  at: At & { name: string; before: string; id: string; now: Date },
): Promise<number> {
  return db.run(sql`
    insert into datasets (workspace_id, project_id, id, name, description, created_at)
    select ${at.workspaceId}::uuid, ${at.projectId}::uuid, ${at.id}::uuid, ${at.name}::text, null, ${at.now}::timestamptz
     where exists (
             select 1
               from records
              where workspace_id = ${at.workspaceId}
                and project_id = ${at.projectId}
                and dataset = ${at.name}
                and id >= ${at.before}
           )
    on conflict (workspace_id, project_id, name) do nothing
  `)
}
