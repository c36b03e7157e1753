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

/** The name of a workspace's plan, its creation, and the usage of a month. */
export async function findUsage(
  db: Db,
  at: MonthOf,
): Promise<Used & { readonly plan: string; readonly created_at: Date }> {
  return db.one<Used & { plan: string; created_at: Date }>(sql`
    select w.plan, w.created_at, coalesce(used.events, 0) as events, coalesce(used.deliveries, 0) as deliveries
      from workspaces w
      left join monthly_usage used
        on used.workspace_id = w.id
       and used.month = ${at.month}::date
     where w.id = ${at.workspaceId}
  `)
}

/** An event to which workflows and agents trace further events. */
export type RootOf = { readonly workspaceId: string; readonly rootId: string }

/**
 * Counts further events of these roots, and returns how many each had before. The rows stay locked until the transaction
 * ends, always in the same order, so the counts are exact and two transactions never deadlock.
 */
export function countDescendants(
  db: Db,
  at: { roots: readonly (RootOf & { readonly events: number })[]; now: Date },
): Promise<readonly { readonly workspace_id: string; readonly root_id: string; readonly before: number }[]> {
  return db.many<{ workspace_id: string; root_id: string; before: number }>(sql`
    with counted as (
           select unnest(${at.roots.map((one) => one.workspaceId)}::uuid[]) as workspace_id,
                  unnest(${at.roots.map((one) => one.rootId)}::uuid[]) as root_id,
                  unnest(${at.roots.map((one) => one.events)}::int[]) as events
         ),
         stored as (
           insert into event_descendants as d (workspace_id, root_id, events, updated_at)
           select workspace_id, root_id, events, ${at.now}
             from counted
            order by workspace_id, root_id
           on conflict (workspace_id, root_id) do update
              set events = d.events + excluded.events,
                  updated_at = excluded.updated_at
           returning workspace_id, root_id, events
         )
    select s.workspace_id, s.root_id, s.events - c.events as before
      from stored s
      join counted c using (workspace_id, root_id)
  `)
}

/** Deletes the counts of roots that have had no further event for long. Returns how many. */
export function deleteOldDescendants(db: Db, { before, limit }: { before: Date; limit: number }): Promise<number> {
  // oxlint-disable-next-line house/tenant-statement -- upkeep prunes every workspace
  return db.run(sql`
    delete from event_descendants
     where (workspace_id, root_id) in (
             select workspace_id, root_id
               from event_descendants
              where updated_at < ${before}
              limit ${limit}
           )
  `)
}
