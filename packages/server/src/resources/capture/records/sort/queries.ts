import { columnPath, isMetaColumn, type MetaColumn } from '../../../../domain/capture/column.ts'
import { sql, type Db, type Sql } from '../../../../platform/db.ts'

export type Of = { readonly workspaceId: string; readonly projectId: string; readonly webhookId: string }

/** A record with its sort value; `number` and `words` are null where its kind has none. */
export type RankedRow = {
  readonly id: string
  readonly kind: number | null
  readonly number: string | null
  readonly words: string | null
}

/** The end of the next piece: the last of at most `limit` submissions before this one, newest first, with about `bytesMax` of bodies. */
export async function findPieceEnd(
  db: Db,
  at: Of & { before: string | null; limit: number; bytesMax: number },
): Promise<string | undefined> {
  const row = await db.maybe<{ id: string }>(sql`
    select id
      from (
             select id, row_number() over newest as place, sum(body_size) over newest as bytes
               from (
                      select id, body_size
                        from submissions
                       where workspace_id = ${at.workspaceId}
                         and project_id = ${at.projectId}
                         and webhook_id = ${at.webhookId}
                         ${at.before === null ? sql`` : sql`and id < ${at.before}`}
                       order by id desc
                       limit ${at.limit}
                    ) s
             window newest as (order by id desc)
           ) sized
     where place = 1
        or bytes <= ${at.bytesMax}
     order by id
     limit 1
  `)
  return row?.id
}

export type Ranked = {
  /** SQL for `record_rank`'s columns, for a record `r` of a submission `s`. */
  readonly rank: Sql
  readonly dir: 'asc' | 'desc'
  readonly limit: number
}

/**
 * The first records among `best` and those of the submissions from `from` to before `before`. Only PostgreSQL compares
 * values, so the best of one piece compete with the next piece.
 */
export function rankPiece(
  db: Db,
  at: Of & Ranked & { from: string; before: string | null; best: readonly RankedRow[] },
): Promise<readonly RankedRow[]> {
  const dir = at.dir === 'asc' ? sql`asc` : sql`desc`
  return db.many<RankedRow>(sql`
    select ranked.id, ranked.kind, ranked.number::text as number, ranked.words
      from (
             select id, kind, number, words
               from unnest(${at.best.map(({ id }) => id)}::uuid[],
                           ${at.best.map(({ kind }) => kind)}::smallint[],
                           ${at.best.map(({ number }) => number)}::numeric[],
                           ${at.best.map(({ words }) => words)}::text[]) as best (id, kind, number, words)
              union all
             select id, (rank).kind, (rank).number, (rank).words
               from (
                      select r.id, ${at.rank} as rank
                        from (
                               select ingest_key_id, body, record_ids
                                 from submissions
                                where workspace_id = ${at.workspaceId}
                                  and project_id = ${at.projectId}
                                  and webhook_id = ${at.webhookId}
                                  and id >= ${at.from}
                                  ${at.before === null ? sql`` : sql`and id < ${at.before}`}
                                order by id desc
                             ) s
                       cross join unnest(s.record_ids) as filed (id)
                       cross join lateral (
                               select id, received_at, data
                                 from records
                                where workspace_id = ${at.workspaceId}
                                  and project_id = ${at.projectId}
                                  and id = filed.id
                               offset 0
                             ) r
                      offset 0
                    ) piece
           ) ranked
     order by ranked.kind is null, ranked.kind ${dir}, ranked.number ${dir}, ranked.words collate "C" ${dir}, ranked.id desc
     limit ${at.limit}
  `)
}

const META: Readonly<Record<MetaColumn, Sql>> = {
  _id: sql`row(1::smallint, null::numeric, r.id::text)::record_rank`,
  _received_at: sql`row(0::smallint, extract(epoch from r.received_at), null::text)::record_rank`,
  _source: sql`row(1::smallint, null::numeric, case when s.ingest_key_id is null then 'endpoint_url' else 'ingest_key' end)::record_rank`,
}

/** The sort value of a record in a column. A payload that is neither an object nor a list is its column `value`. */
export function rankBy(key: string): Sql {
  if (isMetaColumn(key)) return META[key]
  const path = columnPath(key)
  return sql`record_rank_at(coalesce(r.data, s.body), ${path}::text[], ${path.some(looksLikePlace)}, ${key === 'value'})`
}

/** Whether PostgreSQL might mistake a key for a list index: -1, 007. */
const looksLikePlace = (step: string): boolean => /^\s*[+-]?\d+$/.test(step) && !/^(?:0|[1-9]\d*)$/.test(step)
