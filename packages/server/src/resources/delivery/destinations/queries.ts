import type { BodyForm, Conditions, DestinationConfig, TransformLanguage } from '@postroad/contract'
import type { StoredSigning } from '../../../domain/delivery/signing-keys.ts'
import type { RatePer } from '../../../domain/delivery/rate-window.ts'
import { PLAN_PART_ROWS } from '../../../domain/routing/decision/decision-plan.ts'
import { sql, type Db, type Sql } from '../../../platform/db.ts'
import type { LaneStandRow } from '../lanes/index.ts'

type At = { readonly workspaceId: string; readonly projectId: string }

export type DestinationOwner = {
  readonly id: string
  readonly portal_id: string
  readonly customer_id: string
  readonly name: string | null
}

export type DestinationRow = {
  readonly id: string
  readonly name: string
  readonly config: DestinationConfig
  readonly url: string
  readonly enabled: boolean
  readonly disabled_reason: 'by_hand' | 'gone' | 'failing' | null
  readonly disabled_at: Date | null
  readonly datasets: readonly string[] | null
  readonly conditions: Conditions
  readonly headers: Buffer | null
  readonly schedule_seconds: readonly number[] | null
  readonly timeout_ms: number
  readonly max_in_flight: number
  readonly rate_count: number | null
  readonly rate_per: RatePer | null
  /** The path of the key that deliveries are ordered by; null: no order. */
  readonly order_path: string | null
  readonly signing: StoredSigning
  /** The sealed ed25519 keys; null: there is none. */
  readonly signing_key: Buffer | null
  readonly previous_signing_key: Buffer | null
  readonly previous_secret_expires_at: Date | null
  readonly auth: Buffer | null
  readonly tls: Buffer | null
  readonly proxy: Buffer | null
  readonly payload_template: unknown
  /** null: the envelope, or the payload template. */
  readonly body: BodyForm | null
  /** null: none. */
  readonly forward_headers: readonly string[] | null
  readonly transform_id: string | null
  /** The description that the customer who owns the destination gave it. */
  readonly description: string | null
  /** The customer of a portal who owns the destination; null: the project owns it. */
  readonly owner: DestinationOwner | null
  readonly created_at: Date
  readonly updated_at: Date
  /** Null only in the statement that inserts the destination. */
  readonly lane: LaneStandRow | null
}

const columns: Sql = sql`
  id, name, config, url, enabled, disabled_reason, disabled_at, datasets, conditions, headers, schedule_seconds,
  timeout_ms, max_in_flight, rate_count, rate_per, order_path, signing, signing_key, previous_signing_key, previous_secret_expires_at, auth, tls, proxy, payload_template, body, forward_headers, transform_id, description, created_at, updated_at,
  (select json_build_object('id', c.id, 'portal_id', c.portal_id, 'customer_id', c.customer_id, 'name', c.name)
     from portal_customers c
    where c.workspace_id = destinations.workspace_id
      and c.project_id = destinations.project_id
      and c.id = destinations.portal_customer_id) as owner,
  (select json_build_object('memory', l.memory, 'remembered_at', l.remembered_at, 'breaker_resets', l.breaker_resets, 'probes_asked', l.probes_asked)
     from lanes l
    where l.workspace_id = destinations.workspace_id
      and l.destination_id = destinations.id) as lane
`

export type DestinationPlanRow = Pick<
  DestinationRow,
  'id' | 'name' | 'enabled' | 'datasets' | 'conditions' | 'order_path'
> & {
  /** The id with which events name the customer who owns the destination; null: the project owns it. */
  readonly customer_id: string | null
  /** The datasets that the portal of the customer exposes; null: all. */
  readonly exposed: readonly string[] | null
}

/** A share of the destinations of a project, with a digest of everything that the ingest path reads of them. */
export type DestinationShare = { readonly digest: string; readonly rows: readonly DestinationPlanRow[] }

/**
 * The destinations of a project in shares, for the ingest path. A share whose digest the caller knows comes without its rows, so
 * a change of one destination of many reads only the rows of its share.
 */
export async function listDestinationShares(
  db: Db,
  at: At & { readonly known: readonly string[] },
): Promise<readonly DestinationShare[]> {
  const rows = await db.many<Partial<DestinationPlanRow> & { digest: string }>(sql`
    with plan as materialized (
           select d.id, d.name, d.enabled, d.datasets, d.conditions, d.order_path, c.customer_id, p.event_types as exposed
             from destinations d
             left join portal_customers c
               on c.workspace_id = d.workspace_id and c.project_id = d.project_id and c.id = d.portal_customer_id
             left join portals p on p.workspace_id = c.workspace_id and p.project_id = c.project_id and p.id = c.portal_id
            where d.workspace_id = ${at.workspaceId}
              and d.project_id = ${at.projectId}
         ),
         counted as (
           select case when count(*) <= ${PLAN_PART_ROWS} then 0 when count(*) <= 16 * ${PLAN_PART_ROWS} then 1 else 2 end as digits
             from plan
         ),
         shared as (
           select right(id::text, digits) as share, id, name, enabled, datasets, conditions, order_path, customer_id, exposed,
                  row (id, name, enabled, datasets, conditions, order_path, customer_id, exposed)::text as whole
             from plan
            cross join counted
         ),
         digested as (
           select share, left(encode(sha256(convert_to(string_agg(whole, chr(10) order by id), 'UTF8')), 'hex'), 32) as digest
             from shared
            group by share
         )
    select t.digest, s.id, s.name, s.enabled, s.datasets, s.conditions, s.order_path, s.customer_id, s.exposed
      from digested t
      left join shared s on s.share = t.share and not t.digest = any (${at.known}::text[])
     order by t.digest, s.id
  `)
  const shares = new Map<string, DestinationPlanRow[]>()
  for (const { digest, ...row } of rows) {
    const share = shares.get(digest) ?? []
    shares.set(digest, share)
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a row of a destination has an id, and all other columns
    if (row.id !== undefined && row.id !== null) share.push(row as DestinationPlanRow)
  }
  return [...shares].map(([digest, those]) => ({ digest, rows: those }))
}

export type SendingRow = Pick<
  DestinationRow,
  | 'config'
  | 'url'
  | 'headers'
  | 'timeout_ms'
  | 'max_in_flight'
  | 'order_path'
  | 'signing'
  | 'signing_key'
  | 'previous_signing_key'
  | 'auth'
  | 'tls'
  | 'proxy'
  | 'payload_template'
  | 'body'
  | 'forward_headers'
> & {
  readonly id: string
  readonly access_token: Buffer | null
  readonly secret: Buffer
  readonly previous_secret: Buffer | null
  readonly previous_secret_expires_at: Date | null
  /** A customer of a portal owns it, so it reaches less. */
  readonly of_customer: boolean
  /** The current version of its transform; null: it has none. */
  readonly transform: {
    readonly id: string
    readonly version: number
    readonly language: TransformLanguage
    readonly code: string
  } | null
  /** The plan of the workspace, which can lower `max_in_flight`. */
  readonly plan: string
}

/** The settings that a sender needs. A lane does not name its project, so this selects by workspace and id. */
export function findForSending(db: Db, at: { workspaceId: string; id: string }): Promise<SendingRow | undefined> {
  return db.maybe<SendingRow>(sql`
    select t.id, t.config, t.url, t.headers, t.timeout_ms, t.max_in_flight, t.order_path, t.signing, t.signing_key, t.previous_signing_key, t.auth, t.tls, t.proxy, t.access_token, t.payload_template,
           t.body, t.forward_headers, t.secret, t.previous_secret, t.previous_secret_expires_at, t.portal_customer_id is not null as of_customer, w.plan,
           case when t.transform_id is not null then (
             select json_build_object('id', f.id, 'version', f.version, 'language', v.language, 'code', v.code)
               from transforms f
               join transform_versions v
                 on v.workspace_id = f.workspace_id and v.project_id = f.project_id and v.transform_id = f.id and v.version = f.version
              where f.workspace_id = t.workspace_id
                and f.project_id = t.project_id
                and f.id = t.transform_id) end as transform
      from destinations t
      join workspaces w on w.id = t.workspace_id
     where t.workspace_id = ${at.workspaceId}
       and t.id = ${at.id}
  `)
}

/** Stores an access token with the settings that it was issued for. Stores nothing if they have changed since. */
export function keepAccessToken(
  db: Db,
  of: { workspaceId: string; id: string; auth: Buffer; token: Buffer },
): Promise<number> {
  return db.run(sql`
    update destinations
       set access_token = ${of.token}
     where workspace_id = ${of.workspaceId}
       and id = ${of.id}
       and auth = ${of.auth}
  `)
}

export function listDestinations(
  db: Db,
  at: At & { before: string | null; limit: number; owner: 'project' | 'customers' | { readonly id: string } | null },
): Promise<readonly DestinationRow[]> {
  return db.many<DestinationRow>(sql`
    select ${columns}
      from destinations
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
       and (${at.before}::uuid is null or id < ${at.before})
       ${ownedBy(at.owner)}
     order by id desc
     limit ${at.limit}
  `)
}

const ownedBy = (owner: 'project' | 'customers' | { readonly id: string } | null): Sql => {
  if (owner === null) return sql``
  if (owner === 'project') return sql`and portal_customer_id is null`
  return owner === 'customers' ? sql`and portal_customer_id is not null` : sql`and portal_customer_id = ${owner.id}`
}

/** `lock` locks the row against other changes until the transaction ends. */
export function findDestination(db: Db, at: At & { id: string; lock?: boolean }): Promise<DestinationRow | undefined> {
  return db.maybe<DestinationRow>(sql`
    select ${columns}
      from destinations
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
       and id = ${at.id}
     ${at.lock === true ? sql`for update` : sql``}
  `)
}

export async function isDestinationNameTaken(db: Db, at: At & { name: string }): Promise<boolean> {
  const row = await db.maybe(sql`
    select 1 as taken
      from destinations
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
       and name = ${at.name}
  `)
  return row !== undefined
}

const jsonOrNull = (value: unknown): string | null => (value === null ? null : JSON.stringify(value))

type Written = Omit<
  DestinationRow,
  'previous_signing_key' | 'previous_secret_expires_at' | 'created_at' | 'updated_at' | 'lane' | 'owner'
>

/** Inserts the destination and its lane; undefined when the name is taken. */
export async function insertDestination(
  db: Db,
  row: At & Written & { portal_customer_id: string | null; secret: Buffer; now: Date },
): Promise<DestinationRow | undefined> {
  const inserted = await db.maybe<DestinationRow>(sql`
    insert into destinations (workspace_id, project_id, id, name, config, url, enabled, disabled_reason, disabled_at, datasets, conditions,
                              headers, schedule_seconds, timeout_ms, max_in_flight, rate_count, rate_per, order_path, signing, signing_key, auth, tls, proxy, payload_template,
                              body, forward_headers, transform_id, description, portal_customer_id, secret, created_at, updated_at)
    values (${row.workspaceId}, ${row.projectId}, ${row.id}, ${row.name}, ${JSON.stringify(row.config)}, ${row.url}, ${row.enabled}, ${row.disabled_reason},
            ${row.disabled_at}, ${row.datasets}, ${JSON.stringify(row.conditions)}, ${row.headers}, ${row.schedule_seconds},
            ${row.timeout_ms}, ${row.max_in_flight}, ${row.rate_count}, ${row.rate_per}, ${row.order_path},
            ${JSON.stringify(row.signing)}, ${row.signing_key}, ${row.auth}, ${row.tls}, ${row.proxy}, ${jsonOrNull(row.payload_template)},
            ${row.body}, ${row.forward_headers}, ${row.transform_id}, ${row.description}, ${row.portal_customer_id}, ${row.secret}, ${row.now}, ${row.now})
    on conflict (workspace_id, project_id, name) do nothing
    returning ${columns}
  `)
  if (inserted === undefined) return undefined
  await db.run(
    sql`insert into lanes (workspace_id, destination_id, ordered) values (${row.workspaceId}, ${row.id}, ${row.order_path !== null})`,
  )
  return inserted
}

export function updateDestination(db: Db, row: At & Written & { now: Date }): Promise<DestinationRow | undefined> {
  return db.maybe<DestinationRow>(sql`
    update destinations
       set name = ${row.name},
           config = ${JSON.stringify(row.config)},
           url = ${row.url},
           enabled = ${row.enabled},
           disabled_reason = ${row.disabled_reason},
           disabled_at = ${row.disabled_at},
           datasets = ${row.datasets},
           conditions = ${JSON.stringify(row.conditions)},
           headers = ${row.headers},
           schedule_seconds = ${row.schedule_seconds},
           timeout_ms = ${row.timeout_ms},
           max_in_flight = ${row.max_in_flight},
           rate_count = ${row.rate_count},
           rate_per = ${row.rate_per},
           order_path = ${row.order_path},
           signing = ${JSON.stringify(row.signing)},
           signing_key = ${row.signing_key},
           access_token = case when auth = ${row.auth} then access_token end,
           auth = ${row.auth},
           tls = ${row.tls},
           certificate_expires_at = case when tls is not distinct from ${row.tls} then certificate_expires_at end,
           proxy = ${row.proxy},
           payload_template = ${jsonOrNull(row.payload_template)},
           body = ${row.body},
           forward_headers = ${row.forward_headers},
           transform_id = ${row.transform_id},
           description = ${row.description},
           updated_at = ${row.now}
     where workspace_id = ${row.workspaceId}
       and project_id = ${row.projectId}
       and id = ${row.id}
    returning ${columns}
  `)
}

/** The sealed signing secret, locked against another rotation until the transaction ends. */
type HeldSecret = {
  readonly secret: Buffer
  readonly signing_key: Buffer | null
  readonly previous_secret_expires_at: Date | null
}

export function lockSecret(db: Db, at: At & { id: string }): Promise<HeldSecret | undefined> {
  return db.maybe<HeldSecret>(sql`
    select secret, signing_key, previous_secret_expires_at
      from destinations
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
       and id = ${at.id}
       for update
  `)
}

type Secrets = {
  readonly secret: Buffer
  readonly previous_secret: Buffer | null
  readonly signing_key: Buffer | null
  readonly previous_signing_key: Buffer | null
  readonly previous_secret_expires_at: Date | null
}

export function replaceSecret(
  db: Db,
  row: At & Secrets & { id: string; now: Date },
): Promise<DestinationRow | undefined> {
  return db.maybe<DestinationRow>(sql`
    update destinations
       set secret = ${row.secret},
           previous_secret = ${row.previous_secret},
           signing_key = ${row.signing_key},
           previous_signing_key = ${row.previous_signing_key},
           previous_secret_expires_at = ${row.previous_secret_expires_at},
           updated_at = ${row.now}
     where workspace_id = ${row.workspaceId}
       and project_id = ${row.projectId}
       and id = ${row.id}
    returning ${columns}
  `)
}

/** The lane stays, with a higher fence, so its current sender can no longer change anything. */
export async function deleteDestination(db: Db, at: At & { id: string }): Promise<number> {
  await db.run(sql`
    update lanes
       set fence = fence + 1,
           owner = null
     where workspace_id = ${at.workspaceId}
       and destination_id = ${at.id}
  `)
  return db.run(sql`
    delete from destinations
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
       and id = ${at.id}
  `)
}

/** Every destination of a workspace, always in the order in which turns lock them. */
export function listDestinationIds(db: Db, workspaceId: string): Promise<readonly { id: string }[]> {
  return db.many<{ id: string }>(sql`
    select id
      from destinations
     where workspace_id = ${workspaceId}
     order by id
  `)
}

/** The destinations that a project owns with these ids, or all of them. Workflows reach no others. */
export function listDestinationNames(
  db: Db,
  at: { workspaceId: string; projectId: string; ids: readonly string[] | null },
): Promise<readonly { readonly id: string; readonly name: string }[]> {
  return db.many<{ id: string; name: string }>(sql`
    select id, name
      from destinations
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
       ${ownedBy('project')}
       ${at.ids === null ? sql`` : sql`and id = any (${at.ids}::uuid[])`}
     order by id
  `)
}

/** Disables the destination; undefined when it is disabled already. */
export function disableDestination(
  db: Db,
  at: { workspaceId: string; destinationId: string; reason: 'gone' | 'failing'; now: Date },
): Promise<{ project_id: string } | undefined> {
  return db.maybe<{ project_id: string }>(sql`
    update destinations
       set enabled = false,
           disabled_reason = ${at.reason},
           disabled_at = ${at.now},
           updated_at = ${at.now}
     where workspace_id = ${at.workspaceId}
       and id = ${at.destinationId}
       and enabled
    returning project_id
  `)
}

/** Whether the customer exists, locked so that it stays until the commit. */
export async function hasCustomer(db: Db, at: At & { customer: string }): Promise<boolean> {
  const found = await db.maybe(sql`
    select 1 as one
      from portal_customers
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
       and id = ${at.customer}
       for key share
  `)
  return found !== undefined
}
