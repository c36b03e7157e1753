import { sql, texts, type Db } from '../../../platform/db.ts'

type At = { readonly workspaceId: string; readonly projectId: string }

/**
 * Which of these rows are stored, each used at `now`. A row that was used since `recent` stays as it is: it cannot be deleted for
 * longer than a server uses it.
 */
export async function usePlanRows(
  db: Db,
  at: At & { readonly ids: readonly string[]; readonly now: Date; readonly recent: Date },
): Promise<ReadonlySet<string>> {
  const rows = await db.many<{ id: string }>(sql`
    with used as (
           update routing_plans
              set used_at = ${at.now}
            where workspace_id = ${at.workspaceId}
              and project_id = ${at.projectId}
              and id = any (${at.ids}::uuid[])
              and used_at < ${at.recent}
           returning id
         )
    select id
      from used
     union all
    select id
      from routing_plans
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
       and id = any (${at.ids}::uuid[])
       and used_at >= ${at.recent}
  `)
  return new Set(rows.map(({ id }) => id))
}

export type PlanRow = { readonly id: string; readonly content: string }

/** Another server may store the same rows at the same time, in the same order. */
export async function insertPlanRows(
  db: Db,
  at: At & { readonly rows: readonly PlanRow[]; readonly now: Date },
): Promise<void> {
  const rows = at.rows.toSorted((a, b) => (a.id < b.id ? -1 : 1))
  await db.run(sql`
    insert into routing_plans (workspace_id, project_id, id, used_at, content)
    select ${at.workspaceId}, ${at.projectId}, id, ${at.now}, content
      from unnest(${rows.map(({ id }) => id)}::uuid[], ${texts(rows.map(({ content }) => content))}) as row (id, content)
        on conflict (workspace_id, project_id, id) do update
       set used_at = excluded.used_at
  `)
}

export function listPlanRows(db: Db, at: At & { readonly ids: readonly string[] }): Promise<readonly PlanRow[]> {
  return db.many<PlanRow>(sql`
    select id, content
      from routing_plans
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
       and id = any (${at.ids}::uuid[])
  `)
}

/** A page of the rows of a project, in the order of their ids. */
export function listPlanRowsAfter(
  db: Db,
  at: At & { readonly after: string; readonly limit: number },
): Promise<readonly PlanRow[]> {
  return db.many<PlanRow>(sql`
    select id, content
      from routing_plans
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
       and id > ${at.after}
     order by id
     limit ${at.limit}
  `)
}

/**
 * Deletes rows that were last used before `before`, if their project has no event from a time when a server could use them.
 * Returns how many.
 */
export function deleteUnusedPlanRows(
  db: Db,
  at: { readonly plan: string; readonly before: Date; readonly graceMs: number; readonly limit: number },
): Promise<number> {
  return db.run(sql`
    delete from routing_plans p
     where (p.workspace_id, p.project_id, p.id) in (
             select r.workspace_id, r.project_id, r.id
               from workspaces w
               join routing_plans r on r.workspace_id = w.id
              where w.plan = ${at.plan}
                and r.used_at < ${at.before}
                and coalesce(
                      (
                        select s.received_at
                          from submissions s
                         where s.workspace_id = r.workspace_id
                           and s.project_id = r.project_id
                         order by s.id
                         limit 1
                      ) > r.used_at + ${at.graceMs} * interval '1 millisecond',
                      true
                    )
              limit ${at.limit}
           )
       and p.used_at < ${at.before}
  `)
}
