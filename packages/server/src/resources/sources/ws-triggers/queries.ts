import type { Conditions, CustomerPath, OriginError } from '@postroad/contract'
import { sql, type Db, type Sql } from '../../../platform/db.ts'
import type { Due } from '../../../platform/due-board.ts'

type At = { readonly workspaceId: string; readonly projectId: string }

export type WsTriggerRow = {
  readonly id: string
  readonly name: string
  readonly url: string
  readonly dataset: string
  readonly conditions: Conditions
  readonly customer: CustomerPath
  readonly enabled: boolean
  readonly secret: Buffer | null
  readonly heartbeat: { readonly every_seconds: number; readonly message: string | null } | null
  readonly stale_seconds: number
  readonly max_payload_bytes: number
  readonly fence: number
  readonly lease_until: Date | null
  readonly connected_at: Date | null
  readonly received: number
  readonly filed: number
  readonly dropped: number
  readonly failures: number
  readonly connect_at: Date
  readonly last_message_at: Date | null
  readonly last_error: OriginError | null
  readonly created_at: Date
  readonly updated_at: Date
}

const columns: Sql = sql`
  t.id, t.name, t.url, t.dataset, t.conditions, t.customer, t.enabled, t.secret, t.heartbeat, t.stale_seconds, t.max_payload_bytes, t.fence,
  t.lease_until, t.connected_at, t.received, t.filed, t.dropped, t.failures, t.connect_at, t.last_message_at, t.last_error,
  t.created_at, t.updated_at
`

export function listWsTriggers(
  db: Db,
  at: At & { before: string | null; limit: number },
): Promise<readonly WsTriggerRow[]> {
  return db.many<WsTriggerRow>(sql`
    select ${columns}
      from ws_triggers t
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
       and (${at.before}::uuid is null or id < ${at.before})
     order by id desc
     limit ${at.limit}
  `)
}

/** `lock` locks the row until the transaction ends. */
export function findWsTrigger(db: Db, at: At & { id: string; lock?: boolean }): Promise<WsTriggerRow | undefined> {
  return db.maybe<WsTriggerRow>(sql`
    select ${columns}
      from ws_triggers t
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
       and id = ${at.id}
     ${at.lock === true ? sql`for update` : sql``}
  `)
}

export async function countWsTriggers(db: Db, at: At): Promise<number> {
  const { n } = await db.one<{ n: number }>(sql`
    select count(*)::int as n
      from ws_triggers
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
  `)
  return n
}

type Written = Pick<
  WsTriggerRow,
  | 'id'
  | 'name'
  | 'url'
  | 'dataset'
  | 'conditions'
  | 'customer'
  | 'enabled'
  | 'secret'
  | 'heartbeat'
  | 'stale_seconds'
  | 'max_payload_bytes'
>

const json = (value: object | null): string | null => (value === null ? null : JSON.stringify(value))

/** Inserts a trigger; undefined when the name is taken. */
export function insertWsTrigger(db: Db, row: At & Written & { now: Date }): Promise<WsTriggerRow | undefined> {
  return db.maybe<WsTriggerRow>(sql`
    insert into ws_triggers as t (workspace_id, project_id, id, name, url, dataset, conditions, customer, enabled, secret, heartbeat,
                                  stale_seconds, max_payload_bytes, connect_at, created_at, updated_at)
    values (${row.workspaceId}, ${row.projectId}, ${row.id}, ${row.name}, ${row.url}, ${row.dataset}, ${JSON.stringify(row.conditions)},
            ${json(row.customer)}, ${row.enabled}, ${row.secret}, ${json(row.heartbeat)}, ${row.stale_seconds}, ${row.max_payload_bytes}, ${row.now},
            ${row.now}, ${row.now})
    on conflict (workspace_id, project_id, name) do nothing
    returning ${columns}
  `)
}

/** Raises the fence, which ends the present connection, and makes a new one due. Undefined when the name is taken. */
export function updateWsTrigger(db: Db, row: At & Written & { now: Date }): Promise<WsTriggerRow | undefined> {
  return db.maybe<WsTriggerRow>(sql`
    update ws_triggers t
       set name = ${row.name},
           url = ${row.url},
           dataset = ${row.dataset},
           conditions = ${JSON.stringify(row.conditions)},
           customer = ${json(row.customer)},
           enabled = ${row.enabled},
           secret = ${row.secret},
           heartbeat = ${json(row.heartbeat)},
           stale_seconds = ${row.stale_seconds},
           max_payload_bytes = ${row.max_payload_bytes},
           fence = fence + 1,
           owner = null,
           lease_until = null,
           connected_at = null,
           connect_at = ${row.now},
           failures = 0,
           updated_at = ${row.now}
     where workspace_id = ${row.workspaceId}
       and project_id = ${row.projectId}
       and id = ${row.id}
       and not exists (
             select 1
               from ws_triggers other
              where other.workspace_id = ${row.workspaceId}
                and other.project_id = ${row.projectId}
                and other.name = ${row.name}
                and other.id <> ${row.id}
           )
    returning ${columns}
  `)
}

export function deleteWsTrigger(db: Db, at: At & { id: string }): Promise<number> {
  return db.run(sql`
    delete from ws_triggers
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
       and id = ${at.id}
  `)
}

export type ClaimedWsTrigger = WsTriggerRow & { readonly workspace_id: string; readonly project_id: string }

/** Claims triggers without a connection. It skips those of suspended and closed workspaces and of deleted projects. */
export function claimWsTriggers(
  db: Db,
  at: { owner: string; now: Date; until: Date; limit: number },
): Promise<readonly ClaimedWsTrigger[]> {
  // oxlint-disable-next-line house/tenant-statement -- the triggers of all workspaces
  return db.many<ClaimedWsTrigger>(sql`
    update ws_triggers t
       set fence = t.fence + 1,
           owner = ${at.owner},
           lease_until = ${at.until},
           connected_at = null,
           stored = 0
      from (
             select d.workspace_id, d.project_id, d.id
               from ws_triggers d
               join workspaces w on w.id = d.workspace_id and not w.halted
               join projects p on p.workspace_id = d.workspace_id and p.id = d.project_id and p.deleted_at is null
              where d.enabled
                and d.connect_at <= ${at.now}
                and (d.lease_until is null or d.lease_until <= ${at.now})
              order by d.connect_at
              limit ${at.limit}
                for update of d skip locked
           ) due
     where t.workspace_id = due.workspace_id
       and t.project_id = due.project_id
       and t.id = due.id
    returning t.workspace_id, t.project_id, ${columns}
  `)
}

export type Claim = At & { readonly id: string; readonly fence: number }

/** The counts of a connection since they were last written. */
export type Counts = {
  readonly received: number
  readonly filed: number
  readonly dropped: number
  readonly lastMessageAt: Date | null
  readonly connectedAt: Date | null
  /** undefined: the error stays as it is. */
  readonly error: OriginError | undefined
}

const counted = (counts: Counts): Sql => sql`
  received = received + ${counts.received},
  filed = filed + ${counts.filed},
  dropped = dropped + ${counts.dropped},
  last_message_at = coalesce(${counts.lastMessageAt}, last_message_at),
  last_error = ${counts.error === undefined ? sql`last_error` : JSON.stringify(counts.error)}
`

/** Writes the counts of a connection and extends its lease. 0: it must close, because it lost the claim or must stop. */
export function renewWsTrigger(db: Db, at: Claim & { until: Date; counts: Counts }): Promise<number> {
  return db.run(sql`
    update ws_triggers t
       set ${counted(at.counts)},
           connected_at = ${at.counts.connectedAt},
           lease_until = ${at.until}
      from workspaces w, projects p
     where t.workspace_id = ${at.workspaceId}
       and t.project_id = ${at.projectId}
       and t.id = ${at.id}
       and t.fence = ${at.fence}
       and t.enabled
       and w.id = t.workspace_id
       and not w.halted
       and p.workspace_id = t.workspace_id
       and p.id = t.project_id
       and p.deleted_at is null
  `)
}

/** The messages of a connection that a batch contains, by their numbers. */
export type Batch = { readonly after: number; readonly upTo: number }

/**
 * Proves, in the commit of the events, that this process still has the claim and that the batch is the next one, and
 * counts them. 0: the claim is lost, or the batch is stored already.
 */
export function countFiled(db: Db, at: Claim & { counts: Counts; batch: Batch }): Promise<number> {
  return db.run(sql`
    update ws_triggers
       set ${counted(at.counts)},
           stored = ${at.batch.upTo}
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
       and id = ${at.id}
       and fence = ${at.fence}
       and enabled
       and stored = ${at.batch.after}
  `)
}

/** Whether the connection that has the claim has stored this batch. */
export async function isBatchStored(db: Db, at: Claim & { batch: Batch }): Promise<boolean> {
  const row = await db.maybe(sql`
    select 1 as one
      from ws_triggers
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
       and id = ${at.id}
       and fence = ${at.fence}
       and stored = ${at.batch.upTo}
  `)
  return row !== undefined
}

/** Gives a claim back after its connection ended, with the counts that were not written. */
export function releaseWsTrigger(
  db: Db,
  at: Claim & { counts: Counts; failures: number; connectAt: Date },
): Promise<number> {
  return db.run(sql`
    update ws_triggers
       set ${counted(at.counts)},
           failures = ${at.failures},
           connect_at = ${at.connectAt},
           connected_at = null,
           owner = null,
           lease_until = null
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
       and id = ${at.id}
       and fence = ${at.fence}
  `)
}

/** When a WebSocket trigger has no connection. */
// oxlint-disable-next-line house/tenant-statement -- the loop covers every workspace
export const wsTriggersDue: Due = (now) => sql`
  select
    from ws_triggers
   where enabled
     and connect_at <= ${now}
     and (lease_until is null or lease_until <= ${now})
`
