import { sql, type Db } from '../../platform/db.ts'

/** A workspace's month, by its first day (UTC), such as 2026-11-01. */
export type MonthOf = { readonly workspaceId: string; readonly month: string }

export type UsageRow = { readonly workspace_id: string; readonly month: string; readonly events: number }

/**
 * What these months have used, held until the transaction ends: nobody else counts meanwhile. Always taken in the same
 * order, so two transactions that hold several never wait for each other.
 */
export function holdUsage(db: Db, months: readonly MonthOf[]): Promise<readonly UsageRow[]> {
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
    returning workspace_id, month::text as month, events
  `)
}

/** Counts events of months that are held. */
export async function addUsage(db: Db, counts: readonly (MonthOf & { readonly events: number })[]): Promise<void> {
  await db.run(sql`
    update monthly_usage
       set events = monthly_usage.events + counted.events
      from (
             select unnest(${counts.map((one) => one.workspaceId)}::uuid[]) as workspace_id,
                    unnest(${counts.map((one) => one.month)}::date[]) as month,
                    unnest(${counts.map((one) => one.events)}::bigint[]) as events
           ) counted
     where monthly_usage.workspace_id = counted.workspace_id
       and monthly_usage.month = counted.month
  `)
}

/** What a month has used so far, in a workspace with a quota. */
export async function findUsage(db: Db, at: MonthOf): Promise<number> {
  const row = await db.maybe<{ events: number }>(sql`
    select events
      from monthly_usage
     where workspace_id = ${at.workspaceId}
       and month = ${at.month}::date
  `)
  return row?.events ?? 0
}
