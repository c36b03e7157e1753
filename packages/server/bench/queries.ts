/** SQL that only the bench uses: its tables, its databases and its queries of the server. */
import { systemClock } from '../src/platform/clock.ts'
import { openDatabase, sql, statement, type Database, type DatabaseTarget, type Db } from '../src/platform/db.ts'
import { makeDays } from '../src/platform/partitions.ts'
import { DAY_TABLES } from '../src/workers/upkeep.ts'
import { nowMs } from './statistics.ts'

export type BareRow = {
  readonly id: string
  readonly recordId: string
  readonly workspaceId: string
  readonly receivedAt: string
  readonly headers: string
  readonly body: string
  readonly decision: string
}

/** The columns and keys of the rows of one accepted request, without partitions and further indexes. */
export async function makeBareTables(db: Db): Promise<void> {
  await db.run(
    statement(`
    create table bare_submissions (
      workspace_id uuid not null, project_id uuid not null, id uuid not null, webhook_id uuid, received_at timestamptz not null,
      source_ip text, content_type text, headers json not null, body text, body_size integer not null, decision json not null,
      record_ids uuid[] not null, primary key (workspace_id, project_id, id))
  `),
  )
  await db.run(
    statement(`
    create table bare_records (
      workspace_id uuid not null, project_id uuid not null, id uuid not null, submission_id uuid not null, dataset text not null,
      received_at timestamptz not null, hops smallint not null, data text, primary key (workspace_id, project_id, id))
  `),
  )
}

/** One batch, one statement, one commit. */
export async function insertBare(db: Db, rows: readonly BareRow[]): Promise<void> {
  await db.run(sql`
    with row as materialized (
      select *
        from unnest(
          ${rows.map((row) => row.id)}::uuid[],
          ${rows.map((row) => row.recordId)}::uuid[],
          ${rows.map((row) => row.workspaceId)}::uuid[],
          ${rows.map((row) => row.receivedAt)}::timestamptz[],
          ${rows.map((row) => row.headers)}::text[],
          ${rows.map((row) => row.body)}::text[],
          ${rows.map((row) => row.decision)}::text[]
        ) as row (id, record_id, workspace_id, received_at, headers, body, decision)
    ), submissions as (
      insert into bare_submissions (workspace_id, project_id, id, webhook_id, received_at, source_ip, content_type, headers, body,
                                    body_size, decision, record_ids)
      select workspace_id, workspace_id, id, workspace_id, received_at, '127.0.0.1', 'application/json', headers::json, body,
             octet_length(body), decision::json, array[record_id]
        from row
    )
    insert into bare_records (workspace_id, project_id, id, submission_id, dataset, received_at, hops, data)
    select workspace_id, workspace_id, record_id, id, 'bench', received_at, 0, null
      from row
  `)
}

export async function makeDatabase(db: Db, name: string): Promise<void> {
  await db.run(statement(`drop database if exists ${name} with (force)`))
  await db.run(statement(`create database ${name}`))
}

export async function dropDatabase(db: Db, name: string): Promise<void> {
  await db.run(statement(`drop database if exists ${name} with (force)`))
}

/** Cleans up, so that no run pays for the pages that another one wrote. */
export async function settle(db: Db): Promise<void> {
  await db.run(statement('vacuum (analyze)'))
  await db.run(statement('checkpoint'))
}

/** Removes row-level security. */
export async function liftPolicies(db: Db): Promise<void> {
  await db.run(
    statement(`
    do $$
    declare
      t record;
    begin
      for t in select oid::regclass as name from pg_class where relrowsecurity loop
        execute format('alter table %s disable row level security, no force row level security', t.name);
      end loop;
    end
    $$`),
  )
}

/** Reads the workspace's endpoints repeatedly, bound to the workspace or not. Returns the microseconds of one read. */
export async function askForTenant(
  db: Database,
  { isBound, count }: { isBound: boolean; count: number },
): Promise<number> {
  const { id } = await db.one<{ id: string }>(sql`select id from workspaces order by id limit 1`)
  const pool = isBound ? db.forWorkspace(id) : db
  const look = (): Promise<unknown> =>
    pool.many(sql`select id, name from webhooks where workspace_id = ${id} order by id desc limit 20`)
  await look()
  const began = nowMs()
  // oxlint-disable-next-line no-await-in-loop -- one at a time, to measure a single read
  for (let done = 0; done < count; done += 1) await look()
  return ((nowMs() - began) * 1_000) / count
}

export type Settings = {
  readonly version: string
  readonly fsync: string
  readonly synchronous_commit: string
  readonly full_page_writes: string
  readonly wal_sync_method: string
}

export function readSettings(db: Db): Promise<Settings> {
  return db.one<Settings>(sql`
    select current_setting('server_version') as version,
           current_setting('fsync') as fsync,
           current_setting('synchronous_commit') as synchronous_commit,
           current_setting('full_page_writes') as full_page_writes,
           current_setting('wal_sync_method') as wal_sync_method
  `)
}

/** How often the server has forced its log to disk since it was created. */
export async function countWalSyncs(db: Db): Promise<number> {
  const { syncs } = await db.one<{ syncs: number }>(sql`
    select coalesce(sum(fsyncs), 0)::float8 as syncs
      from pg_stat_io
     where object = 'wal'
  `)
  return syncs
}

const MONTH_DAYS = 28
const DAY_MS = 86_400_000

/** Makes the installation look like one with a month of events: a table for each day, although the older ones are empty here. */
export async function makeMonth(db: Database): Promise<void> {
  await makeDays(db, DAY_TABLES, { now: systemClock().now() - MONTH_DAYS * DAY_MS, daysAhead: MONTH_DAYS })
}

/** A pool for the duration of `work`. */
export async function withDatabase<T>(target: DatabaseTarget, work: (db: Database) => Promise<T>): Promise<T> {
  const database = openDatabase({ target, connectionsMax: 1, applicationName: 'bench', statementTimeoutMs: 60_000 })
  try {
    return await work(database)
  } finally {
    await database.close()
  }
}

/**
 * Inserts this many due deliveries of the existing records in turn, for the only destination. Their ids are current, in order.
 */
export async function fillBacklog(db: Db, { from, count }: { from: number; count: number }): Promise<void> {
  await db.run(sql`
    with pool as materialized (
      select r.workspace_id, r.project_id, r.id, row_number() over (order by r.id) - 1 as place
        from records r
    ), asked as (
      select n, floor(extract(epoch from now()) * 1000)::bigint - 1000 as ms
        from generate_series(${from}::int, ${from + count - 1}::int) as n
    )
    insert into deliveries (workspace_id, project_id, id, record_id, destination_id, state, next_attempt_at, created_at, updated_at)
    select t.workspace_id, t.project_id, (lpad(to_hex(a.ms), 12, '0') || '7' || lpad(to_hex(a.n / 65536), 3, '0') || '8' || lpad(to_hex(a.n), 15, '0'))::uuid,
           pool.id, t.id, 'pending', now(), now(), now()
      from asked a
      join pool on pool.place = a.n % (select count(*) from pool)
      join destinations t on t.workspace_id = pool.workspace_id and t.project_id = pool.project_id
     order by a.n
  `)
}

/** Removes the deliveries of another fill. */
export async function clearDeliveries(db: Db): Promise<void> {
  await db.run(statement('truncate deliveries, delivery_attempts'))
}

/** Copies the only destination under new ids and names, each with its lane. */
export async function multiplyDestination(db: Db, { count }: { count: number }): Promise<void> {
  await db.run(sql`
    insert into destinations
    select (jsonb_populate_record(t, jsonb_build_object('id', gen_random_uuid(), 'name', 'idle ' || n))).*
      from destinations t, generate_series(1, ${count}::int) as n
  `)
  await db.run(sql`
    insert into lanes (workspace_id, destination_id)
    select workspace_id, id
      from destinations
    on conflict do nothing
  `)
}

/** How many lanes each living owner has, in descending order. */
export async function countHeldLanes(db: Db): Promise<readonly number[]> {
  const rows = await db.many<{ held: number }>(sql`
    select count(l.owner)::int as held
      from lane_owners o
      left join lanes l on l.owner = o.owner
     where o.lease_until > now()
     group by o.owner
     order by held desc
  `)
  return rows.map(({ held }) => held)
}

/** Transactions that have ended in this database since its statistics started. */
export async function countTransactions(db: Db): Promise<number> {
  const { count } = await db.one<{ count: number }>(sql`
    select (xact_commit + xact_rollback)::float8 as count
      from pg_stat_database
     where datname = current_database()
  `)
  return count
}

/** The number of stored records that the search index does not contain yet. */
export async function countUnindexed(db: Db): Promise<number> {
  const { count } = await db.one<{ count: number }>(
    statement(`
    select ((select count(*) from records) - (select coalesce(sum(records), 0) from search_blocks))::int as count`),
  )
  return count
}

/** The number of rows of a table. */
export async function countRows(db: Db, table: string): Promise<number> {
  const { count } = await db.one<{ count: number }>(statement(`select count(*)::int as count from ${table}`))
  return count
}

/** The connection string of a database, for the clients of rivals. */
export function urlOf(target: DatabaseTarget): string {
  if ('url' in target) return target.url
  return `postgres://${target.username}@/${target.database}?host=${encodeURIComponent(target.host)}&port=${target.port}`
}

type Copies = { readonly project: string; readonly count: number }

/** Copies the rule of a project, each for another dataset and another value. */
export async function copyRules(db: Db, { project, count }: Copies): Promise<void> {
  await db.run(sql`
    insert into rules
    select (
             jsonb_populate_record(
               r,
               jsonb_build_object(
                 'id', gen_random_uuid(), 'name', 'r' || n, 'dataset', 'other' || n % 100,
                 'conditions', jsonb_build_array(jsonb_build_object('path', 'ref', 'equals', 'other' || n))
               )
             )
           ).*
      from rules r
      join projects p on p.id = r.project_id and p.name = ${project}
     cross join generate_series(1, ${count}::int) n
     where r.name = 'orders'
  `)
  await changeProject(db, project)
}

/** Copies the destination of a project: half of them for another dataset, half of them for another value. */
export async function copyDestinations(db: Db, { project, count }: Copies): Promise<void> {
  await db.run(sql`
    insert into destinations
    select (
             jsonb_populate_record(
               d,
               case when n % 2 = 0
                    then jsonb_build_object('id', gen_random_uuid(), 'name', 'd' || n, 'datasets', jsonb_build_array('other' || n % 100))
                    else jsonb_build_object(
                           'id', gen_random_uuid(), 'name', 'd' || n, 'datasets', null,
                           'conditions', jsonb_build_array(jsonb_build_object('path', 'ref', 'equals', 'other' || n))
                         )
                end
             )
           ).*
      from destinations d
      join projects p on p.id = d.project_id and p.name = ${project}
     cross join generate_series(1, ${count}::int) n
     where d.name = 'other'
  `)
  await changeProject(db, project)
}

/** Every process loads the settings of the project again. */
const changeProject = (db: Db, project: string): Promise<number> =>
  db.run(
    sql`update projects set config_version = config_version + 1, config_changed_at = now() where name = ${project}`,
  )

/** How many bytes of log PostgreSQL has written. */
export async function logBytes(db: Db): Promise<number> {
  const { bytes } = await db.one<{ bytes: number }>(sql`select (pg_current_wal_lsn() - '0/0')::float8 as bytes`)
  return bytes
}
