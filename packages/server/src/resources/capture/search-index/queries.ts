import { sql, type Db } from '../../../platform/db.ts'

type At = { readonly workspaceId: string; readonly projectId: string }

export type UnindexedProject = { readonly workspace_id: string; readonly project_id: string }

/**
 * Projects of all workspaces with at least `records` settled records behind their last block, and with a settled record since `since`.
 */
export function listUnindexed(
  db: Db,
  at: { settled: string; since: string; records: number; without: readonly string[]; limit: number },
): Promise<readonly UnindexedProject[]> {
  // oxlint-disable-next-line house/tenant-statement -- the loop indexes the records of every workspace
  return db.many<UnindexedProject>(sql`
    select p.workspace_id, p.id as project_id
      from projects p
     cross join lateral (
             select coalesce(
                      (
                        select b.id
                          from search_blocks b
                         where b.workspace_id = p.workspace_id
                           and b.project_id = p.id
                         order by b.id desc
                         limit 1
                      ),
                      '00000000-0000-0000-0000-000000000000'::uuid
                    ) as id
           ) last
     where p.deleted_at is null
       and p.id <> all (${at.without}::uuid[])
       and exists (
             select 1
               from records r
              where r.workspace_id = p.workspace_id
                and r.project_id = p.id
                and r.id >= ${at.since}::uuid
                and r.id < ${at.settled}::uuid
           )
       and exists (
             select 1
               from records r
              where r.workspace_id = p.workspace_id
                and r.project_id = p.id
                and r.id > last.id
                and r.id < ${at.settled}::uuid
              order by r.id
             offset ${at.records - 1}
              limit 1
           )
     order by p.workspace_id, p.id
     limit ${at.limit}
  `)
}

/** The last record in a block; undefined: the project has no block. */
export async function findIndexedTo(db: Db, at: At): Promise<string | undefined> {
  const last = await db.maybe<{ id: string }>(sql`
    select id
      from search_blocks
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
     order by id desc
     limit 1
  `)
  return last?.id
}

export type SizedRow = { readonly id: string; readonly bytes: number }

/** The next records behind the last block, oldest first. */
export function listToIndex(
  db: Db,
  at: At & { after: string | null; settled: string; limit: number },
): Promise<readonly SizedRow[]> {
  return db.many<SizedRow>(sql`
    select r.id, coalesce(octet_length(r.data), s.body_size) as bytes
      from (
             select id, submission_id, data
               from records
              where workspace_id = ${at.workspaceId}
                and project_id = ${at.projectId}
                ${at.after === null ? sql`` : sql`and id > ${at.after}`}
                and id < ${at.settled}
              order by id
              limit ${at.limit}
           ) r
     cross join lateral (
             select body_size
               from submissions s
              where s.workspace_id = ${at.workspaceId}
                and s.project_id = ${at.projectId}
                and s.id = r.submission_id
             offset 0
           ) s
     order by r.id
  `)
}

export type NewBlock = At & {
  readonly id: string
  readonly firstId: string
  readonly records: number
  readonly slices: number
  readonly stride: number
  readonly bits: Buffer
  readonly ids: Buffer
}

const INDEX_LOCK = 4_680_023

/** Stores nothing when another process has stored a block from here on. Returns whether it stored the block. */
export async function insertBlock(tx: Db, row: NewBlock): Promise<boolean> {
  await tx.run(sql`select pg_advisory_xact_lock(${INDEX_LOCK})`)
  const stored = await tx.run(sql`
    insert into search_blocks (workspace_id, project_id, id, first_id, records, slices, stride, bits, ids)
    select ${row.workspaceId}::uuid, ${row.projectId}::uuid, ${row.id}::uuid, ${row.firstId}::uuid, ${row.records}::int, ${row.slices}::int,
           ${row.stride}::int, ${row.bits}::bytea, ${row.ids}::bytea
     where not exists (
             select 1
               from search_blocks
              where workspace_id = ${row.workspaceId}
                and project_id = ${row.projectId}
                and id >= ${row.firstId}
           )
  `)
  return stored > 0
}

export type BlockRow = {
  readonly id: string
  readonly first_id: string
  readonly records: number
  readonly stride: number
  /** The rows of the terms, one after another. */
  readonly rows: Buffer
}

/** The blocks with records between the bounds, newest first, with the rows of these terms. */
export function listBlocks(
  db: Db,
  at: At & { after: string | null; before: string; terms: readonly number[]; limit: number },
): Promise<readonly BlockRow[]> {
  return db.many<BlockRow>(sql`
    select b.id, b.first_id, b.records, b.stride,
           (
             select string_agg(substring(b.bits from 1 + ((t.term::bigint * b.slices) >> 16)::int * b.stride for b.stride), ''::bytea order by t.place)
               from unnest(${at.terms}::int[]) with ordinality as t (term, place)
           ) as rows
      from search_blocks b
     where b.workspace_id = ${at.workspaceId}
       and b.project_id = ${at.projectId}
       and b.first_id < ${at.before}
       and b.id <= coalesce(
             (
               select id
                 from search_blocks
                where workspace_id = ${at.workspaceId}
                  and project_id = ${at.projectId}
                  and id >= ${at.before}
                order by id
                limit 1
             ),
             ${at.before}
           )
       ${at.after === null ? sql`` : sql`and b.id > ${at.after}`}
     order by b.id desc
     limit ${at.limit}
  `)
}

/** The ids of all records of a block, 16 bytes each. */
export async function findBlockIds(db: Db, at: At & { id: string }): Promise<Buffer | undefined> {
  const found = await db.maybe<{ ids: Buffer }>(sql`
    select ids
      from search_blocks
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
       and id = ${at.id}
  `)
  return found?.ids
}

/** The ids of the records at these places of these blocks, in the same order. */
export async function listIdsAt(
  db: Db,
  at: At & { blocks: readonly string[]; places: readonly number[] },
): Promise<readonly string[]> {
  const rows = await db.many<{ id: string }>(sql`
    select encode(substring(b.ids from 1 + 16 * p.place for 16), 'hex')::uuid as id
      from unnest(${at.blocks}::uuid[], ${at.places}::int[]) with ordinality as p (block, place, n)
      join search_blocks b
        on b.workspace_id = ${at.workspaceId}
       and b.project_id = ${at.projectId}
       and b.id = p.block
     order by p.n
  `)
  return rows.map(({ id }) => id)
}
