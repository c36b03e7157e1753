import { sql, type Db } from '../../../../platform/db.ts'

/**
 * From this commit on, the engine takes no instance of the workspace. Its instances are paused afterwards, in small
 * commits, with the time that they still had to wait. If the workspace is suspended again before all of them were
 * paused, they count as paused for all of the time between, because the engine took none of them.
 */
export async function haltInstances(db: Db, at: { workspaceId: string; now: Date }): Promise<void> {
  await db.run(sql`
    insert into workflow_pauses (workspace_id, halted_at)
    values (${at.workspaceId}, ${at.now})
    on conflict (workspace_id) do update
       set phase = case when workflow_pauses.phase = 'resuming' then 'pausing' else workflow_pauses.phase end,
           halted_at = case when workflow_pauses.phase = 'resuming' then excluded.halted_at else workflow_pauses.halted_at end,
           resumed_at = null
  `)
}

/** The instances of the workspace resume where they stopped, unless the workspace is still suspended or closed. */
export async function resumeInstances(db: Db, at: { workspaceId: string; now: Date }): Promise<void> {
  await db.run(sql`
    update workflow_pauses
       set resumed_at = ${at.now}
     where workspace_id = ${at.workspaceId}
       and resumed_at is null
       and not exists (select 1 from workspaces where id = ${at.workspaceId} and halted)
  `)
}

export type PauseRow = {
  readonly workspace_id: string
  readonly phase: 'pausing' | 'paused' | 'resuming'
  readonly halted_at: Date
  readonly resumed_at: Date | null
}

/** The workspaces whose instances must be moved, locked, without those that another process is moving. */
export function lockPauses(db: Db): Promise<readonly PauseRow[]> {
  // oxlint-disable-next-line house/tenant-statement -- work of the installation: workspaces that were suspended or closed
  return db.many<PauseRow>(sql`
    select workspace_id, phase, halted_at, resumed_at
      from workflow_pauses
     where phase <> 'paused'
        or resumed_at is not null
     order by workspace_id
     limit 10
       for update skip locked
  `)
}

export async function setPhase(
  db: Db,
  at: { workspaceId: string; from: PauseRow['phase']; to: PauseRow['phase'] },
): Promise<void> {
  await db.run(sql`
    update workflow_pauses
       set phase = ${at.to}
     where workspace_id = ${at.workspaceId}
       and phase = ${at.from}
  `)
}

export async function deletePause(db: Db, workspaceId: string): Promise<void> {
  await db.run(sql`
    delete from workflow_pauses
     where workspace_id = ${workspaceId}
       and phase = 'resuming'
  `)
}

/** Work under an earlier claim can no longer change anything, because the fence rises. */
export function pauseInstances(db: Db, at: { workspaceId: string; haltedAt: Date; limit: number }): Promise<number> {
  return db.run(sql`
    with chosen as materialized (
      select workspace_id, project_id, id
        from workflow_instances
       where workspace_id = ${at.workspaceId}
         and due_at is not null
         and paused_at is null
       order by workspace_id, project_id, id
       limit ${at.limit}
         for update
    )
    update workflow_instances i
       set paused_at = greatest(${at.haltedAt}::timestamptz, i.updated_at),
           fence = i.fence + 1,
           lease_until = null
      from chosen c
     where i.workspace_id = c.workspace_id
       and i.project_id = c.project_id
       and i.id = c.id
       and i.paused_at is null
  `)
}

/** Each wait has as much time left as it had when it was paused. */
export function unpauseInstances(db: Db, at: { workspaceId: string; resumedAt: Date; limit: number }): Promise<number> {
  return db.run(sql`
    with chosen as materialized (
      select workspace_id, project_id, id
        from workflow_instances
       where workspace_id = ${at.workspaceId}
         and paused_at is not null
       order by workspace_id, project_id, id
       limit ${at.limit}
         for update
    )
    update workflow_instances i
       set due_at = i.due_at + greatest(${at.resumedAt}::timestamptz - i.paused_at, interval '0'),
           paused_at = null
      from chosen c
     where i.workspace_id = c.workspace_id
       and i.project_id = c.project_id
       and i.id = c.id
       and i.paused_at is not null
  `)
}

/** Ends the instances of a deleted workflow. Work under their claims can no longer change anything. */
export function cancelInstancesOf(
  db: Db,
  at: { workspaceId: string; projectId: string; workflowId: string; now: Date },
): Promise<number> {
  return db.run(sql`
    update workflow_instances
       set state = 'cancelled', ended_at = ${at.now}, updated_at = ${at.now}, due_at = null, lease_until = null, paused_at = null,
           fence = fence + 1, context = null, wait_kind = null, wait_id = null, wait_dataset = null, wait_path = null,
           wait_key = null, wait_conditions = null, wait_since = null, wait_from = null, wait_past = null
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
       and workflow_id = ${at.workflowId}
       and ended_at is null
  `)
}
