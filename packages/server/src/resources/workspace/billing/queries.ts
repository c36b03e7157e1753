import type { Subscription } from '../../../domain/workspace/subscription.ts'
import { sql, type Db, type Sql } from '../../../platform/db.ts'

export type AccountRow = {
  readonly workspace_id: string
  readonly customer_id: string
  readonly subscription_id: string | null
  readonly state: Subscription['state'] | 'none'
  readonly paid_plan: string | null
  readonly price_id: string | null
  readonly period_end: Date | null
  readonly ends_at_period_end: boolean
  readonly past_due_since: Date | null
  readonly read_at: Date | null
}

const columns: Sql = sql`workspace_id, customer_id, subscription_id, state, paid_plan, price_id, period_end, ends_at_period_end, past_due_since, read_at`

/** `lock` locks the row until the transaction ends. */
export function findAccount(db: Db, at: { workspaceId: string; lock?: boolean }): Promise<AccountRow | undefined> {
  return db.maybe<AccountRow>(sql`
    select ${columns}
      from billing_accounts
     where workspace_id = ${at.workspaceId}
     ${at.lock === true ? sql`for update` : sql``}
  `)
}

/** Inserts an account; 0 when the workspace has one already. */
export function insertAccount(db: Db, row: { workspaceId: string; customerId: string; now: Date }): Promise<number> {
  return db.run(sql`
    insert into billing_accounts (workspace_id, customer_id, created_at)
    values (${row.workspaceId}, ${row.customerId}, ${row.now})
    on conflict do nothing
  `)
}

export async function putSubscription(
  db: Db,
  row: Omit<AccountRow, 'customer_id' | 'read_at'> & { readonly read_at: Date },
): Promise<void> {
  await db.run(sql`
    update billing_accounts
       set subscription_id = ${row.subscription_id},
           state = ${row.state},
           paid_plan = ${row.paid_plan},
           price_id = ${row.price_id},
           period_end = ${row.period_end},
           ends_at_period_end = ${row.ends_at_period_end},
           past_due_since = ${row.past_due_since},
           read_at = ${row.read_at}
     where workspace_id = ${row.workspace_id}
  `)
}

/** The workspace of a customer; undefined for a customer of another product. */
export function findByCustomer(db: Db, customerId: string): Promise<{ workspace_id: string } | undefined> {
  // oxlint-disable-next-line house/tenant-statement -- the events of the provider name the customer alone
  return db.maybe<{ workspace_id: string }>(sql`
    select workspace_id
      from billing_accounts
     where customer_id = ${customerId}
  `)
}

/** Subscriptions to read again: an event may be lost, and a grace or a period ends without one. */
export function listStale(
  db: Db,
  at: { readBefore: Date; now: Date; graceFrom: Date; limit: number },
): Promise<readonly { workspace_id: string; customer_id: string }[]> {
  // oxlint-disable-next-line house/tenant-statement -- the subscriptions of all workspaces
  return db.many<{ workspace_id: string; customer_id: string }>(sql`
    select workspace_id, customer_id
      from billing_accounts
     where state not in ('none', 'canceled')
       and (read_at < ${at.readBefore}
            or (period_end < ${at.now} and read_at < period_end)
            or (past_due_since <= ${at.graceFrom} and paid_plan is not null))
     order by read_at
     limit ${at.limit}
  `)
}

/** Subscriptions of closed workspaces that would be renewed. */
export function listOfClosed(
  db: Db,
  limit: number,
): Promise<readonly { workspace_id: string; customer_id: string; subscription_id: string }[]> {
  // oxlint-disable-next-line house/tenant-statement -- the closed ones of all workspaces
  return db.many<{ workspace_id: string; customer_id: string; subscription_id: string }>(sql`
    select a.workspace_id, a.customer_id, a.subscription_id
      from billing_accounts a
      join workspaces w on w.id = a.workspace_id
     where w.closed_at is not null
       and a.subscription_id is not null
       and a.state in ('trialing', 'active', 'past_due')
       and not a.ends_at_period_end
     limit ${limit}
  `)
}
