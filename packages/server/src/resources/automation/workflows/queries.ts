import type { Condition } from '@postroad/contract'
import { sql, type Db } from '../../../platform/db.ts'

type At = { readonly workspaceId: string; readonly projectId: string }

export type WorkflowPlanRow = {
  readonly id: string
  readonly name: string
  readonly version: number
  readonly entry_dataset: string
  readonly entry_conditions: Condition[]
}

/** The workflows that records of the project start, oldest first. */
export function listWorkflowPlans(db: Db, at: At): Promise<readonly WorkflowPlanRow[]> {
  return db.many<WorkflowPlanRow>(sql`
    select id, name, version, entry_dataset, entry_conditions
      from workflows
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
       and active
     order by id
  `)
}
