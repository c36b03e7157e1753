import { sql, type Db, type Sql } from '../../../platform/db.ts'

type At = { readonly workspaceId: string; readonly projectId: string }

export type TokenRow = {
  readonly id: string
  readonly portal_id: string
  readonly portal_customer_id: string
  readonly shown_prefix: string
  readonly expires_at: Date
  readonly last_used_at: Date | null
  readonly created_by: string | null
  readonly created_at: Date
  readonly customer_id: string
  readonly customer_name: string | null
}

const columns: Sql = sql`
  t.id, t.portal_id, t.portal_customer_id, t.shown_prefix, t.expires_at, t.last_used_at, t.created_by, t.created_at,
  c.customer_id, c.name as customer_name
`
const withCustomer: Sql = sql`
  join portal_customers c
    on c.workspace_id = t.workspace_id and c.project_id = t.project_id and c.id = t.portal_customer_id
`

export function listTokens(
  db: Db,
  at: At & { portalId: string; customer: string | null; before: string | null; limit: number },
): Promise<readonly TokenRow[]> {
  return db.many<TokenRow>(sql`
    select ${columns}
      from portal_tokens t
      ${withCustomer}
     where t.workspace_id = ${at.workspaceId}
       and t.project_id = ${at.projectId}
       and t.portal_id = ${at.portalId}
       and (${at.customer}::uuid is null or t.portal_customer_id = ${at.customer})
       and (${at.before}::uuid is null or t.id < ${at.before})
     order by t.id desc
     limit ${at.limit}
  `)
}

/** A token with its customer. */
export function findToken(db: Db, at: At & { id: string }): Promise<TokenRow | undefined> {
  return db.maybe<TokenRow>(sql`
    select ${columns}
      from portal_tokens t
      ${withCustomer}
     where t.workspace_id = ${at.workspaceId}
       and t.project_id = ${at.projectId}
       and t.id = ${at.id}
  `)
}

export async function insertToken(
  db: Db,
  row: At & Omit<TokenRow, 'last_used_at' | 'created_at' | 'customer_id' | 'customer_name'> & { now: Date },
): Promise<void> {
  await db.run(sql`
    insert into portal_tokens (workspace_id, project_id, id, portal_id, portal_customer_id, shown_prefix, expires_at, created_by, created_at)
    values (${row.workspaceId}, ${row.projectId}, ${row.id}, ${row.portal_id}, ${row.portal_customer_id}, ${row.shown_prefix},
            ${row.expires_at}, ${row.created_by}, ${row.now})
  `)
}

/** Deletes the tokens of a customer that have expired, with their credentials. */
export async function deleteExpiredTokens(db: Db, at: At & { customer: string; now: Date }): Promise<void> {
  await db.run(sql`
    with expired as (
           delete from portal_tokens
            where workspace_id = ${at.workspaceId}
              and project_id = ${at.projectId}
              and portal_customer_id = ${at.customer}
              and expires_at <= ${at.now}
           returning id
         )
    delete from credentials
     where workspace_id = ${at.workspaceId}
       and subject_id in (select id from expired)
  `)
}

export function deleteToken(db: Db, at: At & { portalId: string; id: string }): Promise<number> {
  return db.run(sql`
    delete from portal_tokens
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
       and portal_id = ${at.portalId}
       and id = ${at.id}
  `)
}

/** Stores the use if the last stored use was at `since` or before. */
export function touchToken(db: Db, at: At & { id: string; now: Date; since: Date }): Promise<number> {
  return db.run(sql`
    update portal_tokens
       set last_used_at = ${at.now}
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
       and id = ${at.id}
       and (last_used_at is null or last_used_at <= ${at.since})
  `)
}
