import { sql, type Db } from '../../../platform/db.ts'

/** A workspace's month, by its first day (UTC), such as 2026-11-01. */
export type MonthOf = { readonly workspaceId: string; readonly month: string }

/** The usage of a month: accepted events, and deliveries within the allowance. */
export type Used = { readonly events: number; readonly deliveries: number }

export type UsageRow = Used & { readonly workspace_id: string; readonly month: string }

/**
 * The usage of these months, locked until the transaction ends, so that no other transaction counts meanwhile. It
 * always locks in the same order, so two transactions never deadlock.
 */
export function lockUsage(db: Db, months: readonly MonthOf[]): Promise<readonly UsageRow[]> {
  return db.many<UsageRow>(sql`
    insert into monthly_usage as used (workspace_id, month, events)
    select workspace_id, month, 0
      from (
             select unnest(${months.map((one) => one.workspaceId)}::uuid[]) as workspace_id,
                    unnest(${months.map((one) => one.month)}::date[]) as month
           ) row
     order by workspace_id, month
    on conflict (workspace_id, month) do update
       set events = used.events
    returning workspace_id, month::text as month, events, deliveries
  `)
}

/** Counts in months that are locked. */
export async function addUsage(db: Db, counts: readonly (MonthOf & Used)[]): Promise<void> {
  await db.run(sql`
    update monthly_usage
       set events = monthly_usage.events + counted.events,
           deliveries = monthly_usage.deliveries + counted.deliveries
      from (
             select unnest(${counts.map((one) => one.workspaceId)}::uuid[]) as workspace_id,
                    unnest(${counts.map((one) => one.month)}::date[]) as month,
                    unnest(${counts.map((one) => one.events)}::bigint[]) as events,
                    unnest(${counts.map((one) => one.deliveries)}::bigint[]) as deliveries
           ) counted
     where monthly_usage.workspace_id = counted.workspace_id
       and monthly_usage.month = counted.month
  `)
}

/** The name of a workspace's plan, and the usage of a month. */
export async function findUsage(db: Db, at: MonthOf): Promise<Used & { readonly plan: string }> {
  return db.one<Used & { plan: string }>(sql`
    select w.plan, coalesce(used.events, 0) as events, coalesce(used.deliveries, 0) as deliveries
      from workspaces w
      left join monthly_usage used
        on used.workspace_id = w.id
       and used.month = ${at.month}::date
     where w.id = ${at.workspaceId}
  `)
}
