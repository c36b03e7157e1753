import type {
  BodyAs,
  Conditions,
  CustomerPlace,
  EndpointResponse,
  EventTitle,
  HandshakeForm,
  HandshakeKind,
  Idempotency,
  Mappings,
  Split,
  VerificationSettings,
  WebhookConfig,
} from '@postroad/contract'
import { sql, type Db, type Sql } from '../../../platform/db.ts'

type At = { readonly workspaceId: string; readonly projectId: string }

export type WebhookRow = {
  readonly id: string
  readonly name: string
  readonly slug: string
  readonly dataset: string
  readonly enabled: boolean
  readonly criteria: Conditions
  readonly mappings: Mappings
  readonly verification: VerificationSettings
  readonly secret: Buffer | null
  readonly previous_secret: Buffer | null
  readonly previous_secret_expires_at: Date | null
  readonly ip_allowlist: readonly string[]
  readonly cors_origins: readonly string[] | null
  readonly handshake: HandshakeKind
  /** null: the kind is a name for its forms. */
  readonly handshake_form: HandshakeForm | null
  readonly verify_token: Buffer | null
  readonly response: EndpointResponse
  readonly body_as: BodyAs
  readonly split: Split
  readonly idempotency: Idempotency
  readonly customer: CustomerPlace
  readonly event_title: EventTitle
  readonly refused_samples: boolean
  readonly quarantine_hours: number
  readonly url_slug: Buffer
  readonly previous_url_slug: Buffer | null
  readonly previous_url_expires_at: Date | null
  readonly version: number
  readonly created_at: Date
  readonly updated_at: Date
}

const columns: Sql = sql`
  id, name, slug, dataset, enabled, criteria, mappings, verification, secret, previous_secret, previous_secret_expires_at,
  ip_allowlist, cors_origins, handshake, handshake_form, verify_token, response, body_as, split, idempotency, customer,
  event_title, refused_samples, quarantine_hours, url_slug, previous_url_slug, previous_url_expires_at, version, created_at, updated_at
`

/** Every endpoint of a project, for the ingest path. */
export function listWebhookPlans(db: Db, at: At): Promise<readonly WebhookRow[]> {
  return db.many<WebhookRow>(sql`
    select ${columns}
      from webhooks
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
  `)
}

export function listWebhooks(
  db: Db,
  at: At & { before: string | null; limit: number },
): Promise<readonly WebhookRow[]> {
  return db.many<WebhookRow>(sql`
    select ${columns}
      from webhooks
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
       and (${at.before}::uuid is null or id < ${at.before})
     order by id desc
     limit ${at.limit}
  `)
}

/** `lock` locks the row against other changes until the transaction ends. */
export function findWebhook(db: Db, at: At & { id: string; lock?: boolean }): Promise<WebhookRow | undefined> {
  return db.maybe<WebhookRow>(sql`
    select ${columns}
      from webhooks
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
       and id = ${at.id}
     ${at.lock === true ? sql`for update` : sql``}
  `)
}

type Written = Pick<
  WebhookRow,
  'id' | 'name' | 'slug' | 'dataset' | 'enabled' | 'criteria' | 'mappings' | 'verification' | 'secret'
> &
  Pick<
    WebhookRow,
    | 'ip_allowlist'
    | 'cors_origins'
    | 'handshake'
    | 'handshake_form'
    | 'verify_token'
    | 'response'
    | 'body_as'
    | 'split'
    | 'idempotency'
    | 'customer'
    | 'event_title'
    | 'refused_samples'
  >

const jsonOf = (
  setting: HandshakeForm | EndpointResponse | Split | Idempotency | CustomerPlace | EventTitle | null,
): string | null => (setting === null ? null : JSON.stringify(setting))

/** Inserts an endpoint; undefined when the slug is taken. */
export function insertWebhook(
  db: Db,
  row: At & Written & { url_slug: Buffer; now: Date },
): Promise<WebhookRow | undefined> {
  return db.maybe<WebhookRow>(sql`
    insert into webhooks (workspace_id, project_id, id, name, slug, dataset, enabled, criteria, mappings, verification,
                          secret, ip_allowlist, cors_origins, handshake, handshake_form, verify_token, response,
                          body_as, split, idempotency, customer, event_title, refused_samples, url_slug, created_at, updated_at)
    values (${row.workspaceId}, ${row.projectId}, ${row.id}, ${row.name}, ${row.slug}, ${row.dataset}, ${row.enabled},
            ${JSON.stringify(row.criteria)}, ${JSON.stringify(row.mappings)}, ${JSON.stringify(row.verification)},
            ${row.secret}, ${row.ip_allowlist}, ${row.cors_origins}, ${row.handshake}, ${jsonOf(row.handshake_form)},
            ${row.verify_token}, ${jsonOf(row.response)}, ${row.body_as}, ${jsonOf(row.split)}, ${jsonOf(row.idempotency)}, ${jsonOf(row.customer)}, ${jsonOf(row.event_title)},
            ${row.refused_samples}, ${row.url_slug}, ${row.now}, ${row.now})
    on conflict (workspace_id, project_id, slug) do nothing
    returning ${columns}
  `)
}

/** Replaces the settings that a person may change. A replaced secret ends immediately. `version` is the new version. */
export function updateWebhook(
  db: Db,
  row: At &
    Written & { previous_secret: Buffer | null; previous_secret_expires_at: Date | null; version: number; now: Date },
): Promise<WebhookRow | undefined> {
  return db.maybe<WebhookRow>(sql`
    update webhooks
       set name = ${row.name},
           slug = ${row.slug},
           dataset = ${row.dataset},
           enabled = ${row.enabled},
           criteria = ${JSON.stringify(row.criteria)},
           mappings = ${JSON.stringify(row.mappings)},
           verification = ${JSON.stringify(row.verification)},
           secret = ${row.secret},
           previous_secret = ${row.previous_secret},
           previous_secret_expires_at = ${row.previous_secret_expires_at},
           ip_allowlist = ${row.ip_allowlist},
           cors_origins = ${row.cors_origins},
           handshake = ${row.handshake},
           handshake_form = ${jsonOf(row.handshake_form)},
           verify_token = ${row.verify_token},
           response = ${jsonOf(row.response)},
           body_as = ${row.body_as},
           split = ${jsonOf(row.split)},
           idempotency = ${jsonOf(row.idempotency)},
           customer = ${jsonOf(row.customer)},
           event_title = ${jsonOf(row.event_title)},
           refused_samples = ${row.refused_samples},
           version = ${row.version},
           updated_at = ${row.now}
     where workspace_id = ${row.workspaceId}
       and project_id = ${row.projectId}
       and id = ${row.id}
    returning ${columns}
  `)
}

export function deleteWebhook(db: Db, at: At & { id: string }): Promise<number> {
  return db.run(sql`
    delete from webhooks
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
       and id = ${at.id}
  `)
}

export async function isSlugTaken(db: Db, at: At & { slug: string }): Promise<boolean> {
  const row = await db.maybe(sql`
    select 1 as taken
      from webhooks
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
       and slug = ${at.slug}
  `)
  return row !== undefined
}

/** The previous URL works until `previous_url_expires_at`; both are null when it ends immediately. */
export function rotateUrl(
  db: Db,
  row: At & {
    id: string
    url_slug: Buffer
    previous_url_slug: Buffer | null
    previous_url_expires_at: Date | null
    now: Date
  },
): Promise<WebhookRow | undefined> {
  return db.maybe<WebhookRow>(sql`
    update webhooks
       set url_slug = ${row.url_slug},
           previous_url_slug = ${row.previous_url_slug},
           previous_url_expires_at = ${row.previous_url_expires_at},
           updated_at = ${row.now}
     where workspace_id = ${row.workspaceId}
       and project_id = ${row.projectId}
       and id = ${row.id}
    returning ${columns}
  `)
}

/** The previous secret verifies until `previous_secret_expires_at`; both are null when it ends immediately. */
export function rotateSecret(
  db: Db,
  row: At & {
    id: string
    secret: Buffer
    previous_secret: Buffer | null
    previous_secret_expires_at: Date | null
    now: Date
  },
): Promise<WebhookRow | undefined> {
  return db.maybe<WebhookRow>(sql`
    update webhooks
       set secret = ${row.secret},
           previous_secret = ${row.previous_secret},
           previous_secret_expires_at = ${row.previous_secret_expires_at},
           updated_at = ${row.now}
     where workspace_id = ${row.workspaceId}
       and project_id = ${row.projectId}
       and id = ${row.id}
    returning ${columns}
  `)
}

export type VersionRow = {
  readonly version: number
  readonly changed: readonly string[]
  readonly restored_from: number | null
  readonly actor: string
  readonly agent: string | null
  readonly created_at: Date
}

type OfWebhook = At & { readonly id: string }

export async function insertVersion(
  db: Db,
  row: OfWebhook & Omit<VersionRow, 'created_at'> & { readonly config: WebhookConfig; readonly now: Date },
): Promise<void> {
  await db.run(sql`
    insert into webhook_versions (workspace_id, project_id, webhook_id, version, config, changed, restored_from, actor, agent, created_at)
    values (${row.workspaceId}, ${row.projectId}, ${row.id}, ${row.version}, ${JSON.stringify(row.config)}, ${row.changed},
            ${row.restored_from}, ${row.actor}, ${row.agent}, ${row.now})
  `)
}

export async function deleteVersionsUpTo(db: Db, at: OfWebhook & { version: number }): Promise<void> {
  await db.run(sql`
    delete from webhook_versions
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
       and webhook_id = ${at.id}
       and version <= ${at.version}
  `)
}

export function listVersions(
  db: Db,
  at: OfWebhook & { before: number | null; limit: number },
): Promise<readonly VersionRow[]> {
  return db.many<VersionRow>(sql`
    select version, changed, restored_from, actor, agent, created_at
      from webhook_versions
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
       and webhook_id = ${at.id}
       and (${at.before}::integer is null or version < ${at.before})
     order by version desc
     limit ${at.limit}
  `)
}

export function findVersion(
  db: Db,
  at: OfWebhook & { version: number },
): Promise<(VersionRow & { readonly config: WebhookConfig }) | undefined> {
  return db.maybe(sql`
    select version, changed, restored_from, actor, agent, created_at, config
      from webhook_versions
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
       and webhook_id = ${at.id}
       and version = ${at.version}
  `)
}

/** The status of the response to an event that an endpoint accepted, by the version of its settings at that time. */
export function acceptedStatus(of: At & { webhookId: string | Sql; at: Sql }): Sql {
  return sql`
    coalesce((select (v.config -> 'response' ->> 'status')::int
                from webhook_versions v
               where v.workspace_id = ${of.workspaceId}
                 and v.project_id = ${of.projectId}
                 and v.webhook_id = ${of.webhookId}
                 and v.created_at <= ${of.at}
               order by v.version desc
               limit 1), 201)
  `
}
