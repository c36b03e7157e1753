import type { CustomerPlace, INGEST_KEY_SCOPES } from '@postroad/contract'
import { sql, type Db, type Sql } from '../../../platform/db.ts'

type At = { readonly workspaceId: string; readonly projectId: string }

/** The part of a key that the ingest path needs. `signing_secret` is set exactly while the key requires a signature. */
export type IngestKeyPlanRow = {
  readonly id: string
  readonly enabled: boolean
  readonly scopes: readonly (typeof INGEST_KEY_SCOPES)[number][]
  readonly datasets: readonly string[] | null
  readonly ip_allowlist: readonly string[]
  readonly customer: CustomerPlace
  readonly signing_secret: Buffer | null
  readonly previous_signing_secret: Buffer | null
  readonly previous_signing_secret_expires_at: Date | null
}

export type IngestKeyRow = IngestKeyPlanRow & {
  readonly name: string
  readonly shown_prefix: string
  readonly last_used_at: Date | null
  readonly created_at: Date
  readonly updated_at: Date
}

const planColumns: Sql = sql`
  id, enabled, scopes, datasets, ip_allowlist, customer, signing_secret, previous_signing_secret, previous_signing_secret_expires_at
`
const columns: Sql = sql`${planColumns}, name, shown_prefix, last_used_at, created_at, updated_at`

/** Every key of a project, for the ingest path. */
export function listIngestKeyPlans(db: Db, at: At): Promise<readonly IngestKeyPlanRow[]> {
  return db.many<IngestKeyPlanRow>(sql`
    select ${planColumns}
      from ingest_keys
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
       and revoked_at is null
  `)
}

export function listIngestKeys(
  db: Db,
  at: At & { before: string | null; limit: number },
): Promise<readonly IngestKeyRow[]> {
  return db.many<IngestKeyRow>(sql`
    select ${columns}
      from ingest_keys
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
       and revoked_at is null
       and (${at.before}::uuid is null or id < ${at.before})
     order by id desc
     limit ${at.limit}
  `)
}

/** `lock` locks the row against other changes until the transaction ends. */
export function findIngestKey(db: Db, at: At & { id: string; lock?: boolean }): Promise<IngestKeyRow | undefined> {
  return db.maybe<IngestKeyRow>(sql`
    select ${columns}
      from ingest_keys
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
       and id = ${at.id}
       and revoked_at is null
     ${at.lock === true ? sql`for update` : sql``}
  `)
}

type Written = Pick<
  IngestKeyRow,
  'id' | 'name' | 'enabled' | 'scopes' | 'datasets' | 'ip_allowlist' | 'customer' | 'signing_secret'
>

const json = (value: object | null): string | null => (value === null ? null : JSON.stringify(value))

export function insertIngestKey(
  db: Db,
  row: At & Written & { shown_prefix: string; now: Date },
): Promise<IngestKeyRow> {
  return db.one<IngestKeyRow>(sql`
    insert into ingest_keys (workspace_id, project_id, id, name, shown_prefix, enabled, scopes, datasets, ip_allowlist, customer,
                             signing_secret, created_at, updated_at)
    values (${row.workspaceId}, ${row.projectId}, ${row.id}, ${row.name}, ${row.shown_prefix}, ${row.enabled}, ${row.scopes}, ${row.datasets},
            ${row.ip_allowlist}, ${json(row.customer)}, ${row.signing_secret}, ${row.now}, ${row.now})
    returning ${columns}
  `)
}

export function updateIngestKey(
  db: Db,
  row: At &
    Written &
    Pick<IngestKeyRow, 'previous_signing_secret' | 'previous_signing_secret_expires_at'> & { now: Date },
): Promise<IngestKeyRow | undefined> {
  return db.maybe<IngestKeyRow>(sql`
    update ingest_keys
       set name = ${row.name},
           enabled = ${row.enabled},
           scopes = ${row.scopes},
           datasets = ${row.datasets},
           ip_allowlist = ${row.ip_allowlist},
           customer = ${json(row.customer)},
           signing_secret = ${row.signing_secret},
           previous_signing_secret = ${row.previous_signing_secret},
           previous_signing_secret_expires_at = ${row.previous_signing_secret_expires_at},
           updated_at = ${row.now}
     where workspace_id = ${row.workspaceId}
       and project_id = ${row.projectId}
       and id = ${row.id}
       and revoked_at is null
    returning ${columns}
  `)
}

/** Stores the time of use, at most once a minute. */
export function touchIngestKey(db: Db, at: At & { id: string; now: Date }): Promise<number> {
  return db.run(sql`
    update ingest_keys
       set last_used_at = ${at.now}
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
       and id = ${at.id}
       and (last_used_at is null or last_used_at <= ${new Date(at.now.getTime() - 60_000)})
  `)
}

export function revokeIngestKey(db: Db, at: At & { id: string; now: Date }): Promise<number> {
  return db.run(sql`
    update ingest_keys
       set revoked_at = ${at.now}
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
       and id = ${at.id}
       and revoked_at is null
  `)
}
