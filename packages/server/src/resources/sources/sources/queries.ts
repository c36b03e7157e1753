import type { Conditions, CustomerPath, OriginError, SourceKind, SourceSettings } from '@postroad/contract'
import { sql, type Db, type Sql } from '../../../platform/db.ts'
import type { Due } from '../../../platform/due-board.ts'

type At = { readonly workspaceId: string; readonly projectId: string }

/** The settings without the secret part; `place` is the part of a connection string that may be shown. */
export type StoredSettings = SourceSettings & {
  readonly place?: { readonly host: string; readonly port: number; readonly database: string; readonly user: string }
}

/** A replication slot at the last check. `wal_status` null: it does not exist. */
export type StoredSlot = {
  readonly name: string
  readonly wal_status: string | null
  readonly lag_bytes: number | null
  readonly retained_bytes: number | null
  readonly checked_at: string
  /** The owners and admins were notified that it retains too much. */
  readonly warned: boolean
}

export type SourceRow = {
  readonly id: string
  readonly name: string
  readonly kind: SourceKind
  readonly dataset: string
  readonly conditions: Conditions
  readonly customer: CustomerPath
  readonly enabled: boolean
  readonly disabled_reason: 'by_hand' | 'failing' | null
  readonly disabled_at: Date | null
  readonly settings: StoredSettings
  readonly secret: Buffer | null
  readonly position: unknown
  readonly fence: number
  readonly lease_until: Date | null
  readonly due_at: Date
  readonly runs: number
  readonly events: number
  readonly skipped: number
  readonly last_run_at: Date | null
  readonly last_event_at: Date | null
  readonly failures: number
  readonly failing_since: Date | null
  readonly last_error: OriginError | null
  readonly slot: StoredSlot | null
  readonly created_at: Date
  readonly updated_at: Date
}

const columnsOf = (t: Sql): Sql => sql`
  ${t}.id, ${t}.name, ${t}.kind, ${t}.dataset, ${t}.conditions, ${t}.customer, ${t}.enabled, ${t}.disabled_reason, ${t}.disabled_at,
  ${t}.settings, ${t}.secret, ${t}.position, ${t}.fence, ${t}.lease_until, ${t}.due_at, ${t}.runs, ${t}.events, ${t}.skipped, ${t}.last_run_at,
  ${t}.last_event_at, ${t}.failures, ${t}.failing_since, ${t}.last_error, ${t}.slot, ${t}.created_at, ${t}.updated_at
`
export const columns: Sql = columnsOf(sql`s`)

export function listSources(db: Db, at: At & { before: string | null; limit: number }): Promise<readonly SourceRow[]> {
  return db.many<SourceRow>(sql`
    select ${columns}
      from sources s
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
       and (${at.before}::uuid is null or id < ${at.before})
     order by id desc
     limit ${at.limit}
  `)
}

/** `lock` locks the row until the transaction ends. */
export function findSource(db: Db, at: At & { id: string; lock?: boolean }): Promise<SourceRow | undefined> {
  return db.maybe<SourceRow>(sql`
    select ${columns}
      from sources s
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
       and id = ${at.id}
     ${at.lock === true ? sql`for update` : sql``}
  `)
}

export async function countSources(db: Db, at: At): Promise<number> {
  const { n } = await db.one<{ n: number }>(sql`
    select count(*)::int as n
      from sources
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
  `)
  return n
}

type Written = Pick<
  SourceRow,
  | 'id'
  | 'name'
  | 'kind'
  | 'dataset'
  | 'conditions'
  | 'customer'
  | 'enabled'
  | 'disabled_reason'
  | 'disabled_at'
  | 'settings'
  | 'secret'
>

/** Inserts a source, which is due immediately; undefined when the name is taken. */
export function insertSource(db: Db, row: At & Written & { now: Date }): Promise<SourceRow | undefined> {
  return db.maybe<SourceRow>(sql`
    insert into sources as s (workspace_id, project_id, id, name, kind, dataset, conditions, customer, enabled,
                              disabled_reason, disabled_at, settings, secret, due_at, slot_due_at, created_at, updated_at)
    values (${row.workspaceId}, ${row.projectId}, ${row.id}, ${row.name}, ${row.kind}, ${row.dataset}, ${JSON.stringify(row.conditions)},
            ${row.customer === null ? null : JSON.stringify(row.customer)}, ${row.enabled}, ${row.disabled_reason}, ${row.disabled_at}, ${JSON.stringify(row.settings)}, ${row.secret}, ${row.now},
            ${row.kind === 'postgres_replication' ? row.now : null}, ${row.now}, ${row.now})
    on conflict (workspace_id, project_id, name) do nothing
    returning ${columns}
  `)
}

/**
 * Raises the fence, so that a run under the previous settings stores nothing, and makes the source due. `restarts`: it
 * starts from the beginning again. Undefined when the name is taken.
 */
export function updateSource(
  db: Db,
  row: At & Written & { restarts: boolean; now: Date },
): Promise<SourceRow | undefined> {
  return db.maybe<SourceRow>(sql`
    update sources s
       set name = ${row.name},
           dataset = ${row.dataset},
           conditions = ${JSON.stringify(row.conditions)},
           customer = ${row.customer === null ? null : JSON.stringify(row.customer)},
           enabled = ${row.enabled},
           disabled_reason = ${row.disabled_reason},
           disabled_at = ${row.disabled_at},
           settings = ${JSON.stringify(row.settings)},
           secret = ${row.secret},
           position = ${row.restarts ? sql`null` : sql`position`},
           fence = fence + 1,
           owner = null,
           lease_until = null,
           due_at = ${row.now},
           failures = 0,
           failing_since = null,
           updated_at = ${row.now}
     where workspace_id = ${row.workspaceId}
       and project_id = ${row.projectId}
       and id = ${row.id}
       and not exists (
             select 1
               from sources other
              where other.workspace_id = ${row.workspaceId}
                and other.project_id = ${row.projectId}
                and other.name = ${row.name}
                and other.id <> ${row.id}
           )
    returning ${columns}
  `)
}

export function deleteSource(db: Db, at: At & { id: string }): Promise<number> {
  return db.run(sql`
    delete from sources
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
       and id = ${at.id}
  `)
}

export type ClaimedSource = SourceRow & { readonly workspace_id: string; readonly project_id: string }

/**
 * Claims due sources of the given kinds: raises their fence, so that their previous owner can no longer store anything. Those of
 * the workspace with the fewest in `underWay` come first, then the longest due, and no workspace gets more than
 * `ofWorkspaceMax` together with those. It skips sources of suspended and closed workspaces and of deleted projects.
 */
export function claimSources(
  db: Db,
  at: {
    kinds: readonly SourceKind[]
    owner: string
    now: Date
    until: Date
    limit: number
    underWay: readonly string[]
    ofWorkspaceMax: number
  },
): Promise<readonly ClaimedSource[]> {
  // oxlint-disable-next-line house/tenant-statement -- the sources of all workspaces
  return db.many<ClaimedSource>(sql`
    with waiting as (
           select d.workspace_id, d.project_id, d.id, d.due_at,
                  row_number() over (partition by d.workspace_id order by d.due_at)
                  + (select count(*) from unnest(${at.underWay}::uuid[]) u (id) where u.id = d.workspace_id) as place
             from sources d
             join workspaces w on w.id = d.workspace_id and not w.halted
             join projects p on p.workspace_id = d.workspace_id and p.id = d.project_id and p.deleted_at is null
            where d.enabled
              and d.kind = any (${at.kinds})
              and d.due_at <= ${at.now}
              and (d.lease_until is null or d.lease_until <= ${at.now})
         ),
         due as (
           select d.workspace_id, d.project_id, d.id
             from waiting o
             join sources d using (workspace_id, project_id, id)
            where o.place <= ${at.ofWorkspaceMax}
              and d.due_at <= ${at.now}
              and (d.lease_until is null or d.lease_until <= ${at.now})
            order by o.place, o.due_at
            limit ${at.limit}
              for update of d skip locked
         )
    update sources s
       set fence = s.fence + 1,
           owner = ${at.owner},
           lease_until = ${at.until}
      from due
     where s.workspace_id = due.workspace_id
       and s.project_id = due.project_id
       and s.id = due.id
    returning s.workspace_id, s.project_id, ${columns}
  `)
}

export type FailingSource = { readonly name: string; readonly enabled: boolean; readonly failing_since: Date | null }

/** Sources that cannot be read, or were turned off for that reason, longest first; for the doctor. */
export function listFailingSources(db: Db, limit: number): Promise<readonly FailingSource[]> {
  // oxlint-disable-next-line house/tenant-statement -- the sources of all workspaces
  return db.many<FailingSource>(sql`
    select name, enabled, failing_since
      from sources
     where failing_since is not null
     order by failing_since
     limit ${limit}
  `)
}

type Claim = At & { readonly id: string; readonly fence: number }

/** Ends a run that stored its events: the position goes into the same commit. 0: the claim is lost. */
export function advanceSource(
  db: Db,
  run: Claim & {
    position: unknown
    events: number
    skipped: number
    now: Date
    dueAt: Date
    /** The stream continues under this claim. */
    leaseUntil: Date | null
    error: OriginError | null
  },
): Promise<number> {
  return db.run(sql`
    update sources
       set position = ${run.position === null ? null : JSON.stringify(run.position)},
           runs = runs + 1,
           events = events + ${run.events},
           skipped = skipped + ${run.skipped},
           last_run_at = ${run.now},
           last_event_at = ${run.events > 0 ? sql`${run.now}` : sql`last_event_at`},
           failures = 0,
           failing_since = null,
           last_error = ${run.error === null ? null : JSON.stringify(run.error)},
           due_at = ${run.dueAt},
           lease_until = ${run.leaseUntil}
     where workspace_id = ${run.workspaceId}
       and project_id = ${run.projectId}
       and id = ${run.id}
       and fence = ${run.fence}
       and enabled
  `)
}

/** Gives a claim back, without an outcome. */
export function releaseSource(db: Db, at: Claim & { dueAt: Date }): Promise<number> {
  return db.run(sql`
    update sources
       set due_at = ${at.dueAt},
           owner = null,
           lease_until = null
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
       and id = ${at.id}
       and fence = ${at.fence}
  `)
}

/** Ends a run that failed; undefined: the claim is lost. `isUnread` false: the period of failure starts again. */
export function failSource(
  db: Db,
  run: Claim & { error: OriginError; now: Date; dueAt: Date; isUnread: boolean },
): Promise<Pick<SourceRow, 'name' | 'failures' | 'failing_since'> | undefined> {
  return db.maybe<Pick<SourceRow, 'name' | 'failures' | 'failing_since'>>(sql`
    update sources
       set failures = failures + 1,
           failing_since = ${run.isUnread ? sql`coalesce(failing_since, ${run.now})` : sql`${run.now}`},
           last_run_at = ${run.now},
           last_error = ${JSON.stringify(run.error)},
           due_at = ${run.dueAt},
           owner = null,
           lease_until = null
     where workspace_id = ${run.workspaceId}
       and project_id = ${run.projectId}
       and id = ${run.id}
       and fence = ${run.fence}
    returning name, failures, failing_since
  `)
}

export function disableFailing(db: Db, at: Claim & { now: Date }): Promise<number> {
  return db.run(sql`
    update sources
       set enabled = false,
           disabled_reason = 'failing',
           disabled_at = ${at.now},
           fence = fence + 1
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
       and id = ${at.id}
       and fence = ${at.fence}
       and enabled
  `)
}

/** Extends the claim on a source that is being read; 0: it is lost or given back, or the source must stop. */
export function renewSource(db: Db, at: Claim & { until: Date }): Promise<number> {
  return db.run(sql`
    update sources s
       set lease_until = ${at.until}
      from workspaces w, projects p
     where s.workspace_id = ${at.workspaceId}
       and s.project_id = ${at.projectId}
       and s.id = ${at.id}
       and s.fence = ${at.fence}
       and s.lease_until is not null
       and s.enabled
       and w.id = s.workspace_id
       and not w.halted
       and p.workspace_id = s.workspace_id
       and p.id = s.project_id
       and p.deleted_at is null
  `)
}

/** When a source waits for a process. */
// oxlint-disable-next-line house/tenant-statement -- the loop covers every workspace
export const sourcesDue: Due = (now) => sql`
  select
    from sources
   where enabled
     and due_at <= ${now}
     and (lease_until is null or lease_until <= ${now})
`

/** When a replication slot is to be checked. */
// oxlint-disable-next-line house/tenant-statement -- the loop covers every workspace
export const slotsDue: Due = (now) => sql`select from sources where slot_due_at <= ${now}`
