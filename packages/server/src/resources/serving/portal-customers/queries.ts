import { sql, type Db, type Sql } from '../../../platform/db.ts'

type At = { readonly workspaceId: string; readonly projectId: string }

export type CustomerRow = {
  readonly id: string
  readonly portal_id: string
  /** The id that the owner of the portal gave the customer. */
  readonly customer_id: string
  readonly name: string | null
  readonly destination_count: number
  readonly token_count: number
  readonly created_at: Date
  readonly updated_at: Date
}

/** `now`: tokens that have expired by then do not count. */
const columnsAt = (now: Date): Sql => sql`
  id, portal_id, customer_id, name, created_at, updated_at,
  (select count(*)
     from destinations d
    where d.workspace_id = portal_customers.workspace_id
      and d.project_id = portal_customers.project_id
      and d.portal_customer_id = portal_customers.id) as destination_count,
  (select count(*)
     from portal_tokens t
    where t.workspace_id = portal_customers.workspace_id
      and t.project_id = portal_customers.project_id
      and t.portal_customer_id = portal_customers.id
      and t.expires_at > ${now}) as token_count
`

type Asked = At & { readonly portalId: string; readonly now: Date }

export function listCustomers(
  db: Db,
  at: Asked & { customerId: string | null; before: string | null; limit: number },
): Promise<readonly CustomerRow[]> {
  return db.many<CustomerRow>(sql`
    select ${columnsAt(at.now)}
      from portal_customers
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
       and portal_id = ${at.portalId}
       and (${at.customerId}::text is null or customer_id = ${at.customerId})
       and (${at.before}::uuid is null or id < ${at.before})
     order by id desc
     limit ${at.limit}
  `)
}

export async function countCustomers(db: Db, at: At): Promise<number> {
  const { count } = await db.one<{ count: number }>(sql`
    select count(*) as count
      from portal_customers
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
  `)
  return count
}

/** `lock` locks the row, so that the destinations of the customer are counted by one request at a time. */
export async function findCustomer(
  db: Db,
  at: Asked & { id: string; lock?: boolean },
): Promise<CustomerRow | undefined> {
  if (at.lock === true) await lockCustomer(db, at)
  return db.maybe<CustomerRow>(sql`
    select ${columnsAt(at.now)}
      from portal_customers
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
       and portal_id = ${at.portalId}
       and id = ${at.id}
  `)
}

/** A separate statement, so that the counts of a later one include the changes of the previous owner of the lock. */
async function lockCustomer(db: Db, at: Asked & { id: string }): Promise<void> {
  await db.run(sql`
    select id
      from portal_customers
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
       and portal_id = ${at.portalId}
       and id = ${at.id}
       for update
  `)
}

/** Inserts a customer. The caller has locked the portal and found the id free. */
export function insertCustomer(
  db: Db,
  row: Asked & Pick<CustomerRow, 'id' | 'customer_id' | 'name'>,
): Promise<CustomerRow> {
  return db.one<CustomerRow>(sql`
    insert into portal_customers (workspace_id, project_id, id, portal_id, customer_id, name, created_at, updated_at)
    values (${row.workspaceId}, ${row.projectId}, ${row.id}, ${row.portalId}, ${row.customer_id}, ${row.name}, ${row.now}, ${row.now})
    returning ${columnsAt(row.now)}
  `)
}

export function updateCustomer(
  db: Db,
  row: Asked & Pick<CustomerRow, 'id' | 'customer_id' | 'name'>,
): Promise<CustomerRow> {
  return db.one<CustomerRow>(sql`
    update portal_customers
       set customer_id = ${row.customer_id},
           name = ${row.name},
           updated_at = ${row.now}
     where workspace_id = ${row.workspaceId}
       and project_id = ${row.projectId}
       and portal_id = ${row.portalId}
       and id = ${row.id}
    returning ${columnsAt(row.now)}
  `)
}

/** Deletes the customer with their tokens and the credentials of these. Their destinations must be gone. */
export async function deleteCustomer(db: Db, at: Asked & { id: string }): Promise<void> {
  await db.run(sql`
    delete from credentials
     where workspace_id = ${at.workspaceId}
       and subject_id in (select id
                            from portal_tokens
                           where workspace_id = ${at.workspaceId}
                             and project_id = ${at.projectId}
                             and portal_customer_id = ${at.id})
  `)
  await db.run(sql`
    delete from portal_customers
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
       and portal_id = ${at.portalId}
       and id = ${at.id}
  `)
}
