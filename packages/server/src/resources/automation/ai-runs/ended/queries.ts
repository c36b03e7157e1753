import { sql, type Db } from '../../../../platform/db.ts'

/** Deletes a batch of the runs of a plan that ended before this time, with their steps. Returns how many runs. */
export async function deleteEndedRuns(db: Db, at: { plan: string; before: Date; limit: number }): Promise<number> {
  const { count } = await db.one<{ count: number }>(sql`
    with piece as materialized (
           select r.workspace_id, r.project_id, r.id
             from workspaces w
             join ai_runs r on r.workspace_id = w.id
            where w.plan = ${at.plan}
              and r.ended_at < ${at.before}
            limit ${at.limit}
         ),
         steps as (
           delete from ai_run_steps s
            using piece p
            where s.workspace_id = p.workspace_id
              and s.project_id = p.project_id
              and s.run_id = p.id
         ),
         gone as (
           delete from ai_runs r
            using piece p
            where r.workspace_id = p.workspace_id
              and r.project_id = p.project_id
              and r.id = p.id
           returning r.id
         )
    select count(*)::int as count from gone
  `)
  return count
}
