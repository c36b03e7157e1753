/** The events of the search row in SQL. */
import { sql, statement, type Db } from '../../src/platform/db.ts'
import type { IndexedEvent } from '../rivals/opensearch.ts'

const DAYS = 27
const DAY_MS = 86_400_000
/** Each insert takes a second or two. */
const AT_ONCE = 50_000

/** The words of notes: rare in pairs, common alone. */
export const WORDS =
  'amber basin cedar delta ember fjord grove harbor island jasper kernel lagoon meadow nectar orchid prairie quartz river summit tundra'

/** JSON as an online shop sends it, about 560 bytes, the same for the same number. */
const BODY = `
  '{"id":"evt_' || left(md5('e' || n), 20) || '","type":"' || (array['order.created','order.paid','order.shipped','order.refunded'])[1 + n % 4]
  || '","created":' || 1700000000 + n || ',"livemode":true,"data":{"order":{"id":"ord_' || left(md5('o' || n), 16)
  || '","customer":{"id":"cus_' || left(md5('c' || n / 10), 14) || '","email":"' || w.words[1 + n % 20] || '.' || n / 10 || '@' || w.words[1 + n % 19]
  || '.example","name":"' || initcap(w.words[1 + n % 17]) || ' ' || initcap(w.words[1 + n % 13]) || '"},"amount":' || (n::bigint * 7919) % 1000000
  || ',"currency":"' || (array['EUR','USD','GBP'])[1 + n % 3] || '","lines":[{"sku":"SKU-' || n % 5000 || '","quantity":' || 1 + n % 4
  || '},{"sku":"SKU-' || (n + 17) % 5000 || '","quantity":1}],"shipping":{"city":"' || initcap(w.words[1 + n % 11]) || 'ville","zip":"'
  || lpad(((n::bigint * 31) % 100000)::text, 5, '0') || '"},"note":"' || w.words[1 + n % 20] || ' ' || w.words[1 + n / 20 % 20] || ' ' || w.words[1 + n / 400 % 20]
  || ' ' || w.words[1 + n / 8000 % 20] || '"}}}'`

const HEADERS = `
  ('{"content-type":"application/json","user-agent":"Shop-Hooks/2.1","x-shop-topic":"orders","x-shop-delivery":"'
  || md5('d' || n)::uuid || '"}')::json`

/**
 * Stores this many events of the past weeks, at even intervals, as ingest would have stored them. The last one is some minutes old, so
 * all of them can be indexed.
 */
export async function storeEvents(
  db: Db,
  { count, now, progress }: { count: number; now: number; progress: (stored: number) => void },
): Promise<void> {
  const end = now - 300_000
  for (let from = 0; from < count; from += AT_ONCE) {
    const to = Math.min(count, from + AT_ONCE) - 1
    // oxlint-disable-next-line no-await-in-loop -- one piece after the other
    await db.run(
      statement(`
      with event as materialized (
        select p.workspace_id, p.id as project_id,
               (lpad(to_hex(t.ms), 12, '0') || '7000' || '8' || lpad(to_hex(n), 15, '0'))::uuid as id,
               (lpad(to_hex(t.ms), 12, '0') || '7001' || '8' || lpad(to_hex(n), 15, '0'))::uuid as record_id,
               to_timestamp(t.ms / 1000.0) as received_at, ${BODY} as body, ${HEADERS} as headers
          from generate_series(${from}, ${to}) as n
         cross join (select workspace_id, id from projects order by id limit 1) p
         cross join (select string_to_array('${WORDS}', ' ') as words) w
         cross join lateral (select ${end - DAYS * DAY_MS}::bigint + n::bigint * ${DAYS * DAY_MS} / ${count} as ms) t
      ), stored as (
        insert into submissions (workspace_id, project_id, id, received_at, source_ip, content_type, headers, body, body_size, decision, record_ids)
        select workspace_id, project_id, id, received_at, '192.0.2.1', 'application/json', headers, body, octet_length(body), '{}', array[record_id]
          from event
      )
      insert into records (workspace_id, project_id, id, submission_id, dataset, received_at, hops)
      select workspace_id, project_id, record_id, id, 'Orders', received_at, 0
        from event
    `),
    )
    progress(to + 1)
  }
}

/** The first page of an answer, as a plain table gives it. */
export async function askPlain(db: Db, condition: string): Promise<number> {
  // The server turns sequential scans off for its own statements, which would slow these down.
  await db.run(statement('set enable_seqscan = on'))
  const rows = await db.many<{ id: string }>(
    statement(`select id from submissions where ${condition} order by id desc limit 20`),
  )
  return rows.length
}

const READ_AT_ONCE = 2_000
const NUMBER_DIGITS = 15

/** All events, oldest first, for a rival that stores them as well. */
export async function* readEvents(db: Db): AsyncGenerator<readonly IndexedEvent[]> {
  // The order of the primary key: any other order would sort all events for each page.
  const none = '00000000-0000-0000-0000-000000000000'
  let after = { workspace_id: none, project_id: none, id: none }
  for (;;) {
    // oxlint-disable-next-line no-await-in-loop -- each page follows the previous one
    const rows = await db.many<typeof after & { body: string; headers: string }>(sql`
      select workspace_id, project_id, id, body, headers::text as headers
        from submissions
       where (workspace_id, project_id, id) > (${after.workspace_id}::uuid, ${after.project_id}::uuid, ${after.id}::uuid)
       order by workspace_id, project_id, id
       limit ${READ_AT_ONCE}
    `)
    const last = rows.at(-1)
    if (last === undefined) return
    yield rows.map(({ id, body, headers }) => ({ n: numberOf(id), body, headers }))
    after = last
  }
}

/** The id of an event ends with its number. */
const numberOf = (id: string): number => Number.parseInt(id.replaceAll('-', '').slice(-NUMBER_DIGITS), 16)

/** The bytes of the index, and of the events. */
export function sizesOf(db: Db): Promise<{ index: number; events: number }> {
  return db.one<{ index: number; events: number }>(sql`
    select sum(pg_total_relation_size(c.oid)) filter (where c.relname like 'search_blocks%')::float8 as index,
           sum(pg_total_relation_size(c.oid)) filter (where c.relname like 'submissions%' or c.relname like 'records%')::float8 as events
      from pg_class c
     where c.relkind = 'r'
       and (c.relname like 'search_blocks%' or c.relname like 'submissions%' or c.relname like 'records%')
  `)
}

/** Inserts bodies in batches, as ingest does, into a table with a trigram index or none. */
export async function insertBodies(db: Db, { indexed, count }: { indexed: boolean; count: number }): Promise<void> {
  await db.run(statement('create extension if not exists pg_trgm'))
  await db.run(statement('drop table if exists bench_bodies'))
  await db.run(statement('create table bench_bodies (id uuid primary key, body text not null)'))
  if (indexed) await db.run(statement('create index bench_trigrams on bench_bodies using gin (body gin_trgm_ops)'))
  for (let from = 0; from < count; from += BATCH)
    // oxlint-disable-next-line no-await-in-loop -- one batch after the other
    await db.run(
      statement(`
      insert into bench_bodies
      select gen_random_uuid(), ${BODY}
        from generate_series(${from}, ${from + BATCH - 1}) as n
       cross join (select string_to_array('${WORDS}', ' ') as words) w
    `),
    )
}

const BATCH = 100
