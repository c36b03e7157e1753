import type { RouteAnswer, Routes } from '@postroad/contract'
import { sql, type Db, type Sql } from '../../../platform/db.ts'

export type SsoStatus = 'pending' | 'approved' | 'declined' | 'cancelled' | 'superseded'

export type SsoRequestRow = {
  readonly workspace_id: string
  readonly id: string
  readonly kinds: RouteAnswer<Routes['ssoRequests']['create']>['request']['kinds']
  readonly domains: readonly string[]
  readonly note: string | null
  readonly status: SsoStatus
  readonly requested_by: string
  readonly requested_at: Date
  readonly decided_at: Date | null
  readonly reason: string | null
  readonly supersedes: string | null
}

const columns: Sql = sql`workspace_id, id, kinds, domains, note, status, requested_by, requested_at, decided_at, reason, supersedes`

type Page = { readonly before: string | null; readonly limit: number }

/** `kind` null: requests of all kinds. */
export function listRequests(
  db: Db,
  at: Page & { workspaceId: string; kind: string | null },
): Promise<readonly SsoRequestRow[]> {
  return db.many<SsoRequestRow>(sql`
    select ${columns}
      from sso_requests
     where workspace_id = ${at.workspaceId}
       and (${at.kind}::text is null or ${at.kind} = any (kinds))
       and (${at.before}::uuid is null or id < ${at.before})
     order by id desc
     limit ${at.limit}
  `)
}

/** Ends the pending request of these kinds, if there is one, and returns its id. */
export async function supersedePending(
  db: Db,
  at: { workspaceId: string; kinds: readonly string[] },
): Promise<string | null> {
  const found = await db.maybe<{ id: string }>(sql`
    update sso_requests
       set status = 'superseded'
     where workspace_id = ${at.workspaceId}
       and kinds = ${at.kinds}::text[]
       and status = 'pending'
    returning id
  `)
  return found?.id ?? null
}

export function insertRequest(
  db: Db,
  row: {
    workspaceId: string
    id: string
    kinds: readonly string[]
    domains: readonly string[]
    note: string | null
    userId: string
    now: Date
    supersedes: string | null
  },
): Promise<SsoRequestRow> {
  return db.one<SsoRequestRow>(sql`
    insert into sso_requests (workspace_id, id, kinds, domains, note, status, requested_by, requested_at, supersedes)
    values (${row.workspaceId}, ${row.id}, ${row.kinds}::text[], ${row.domains}::text[], ${row.note}, 'pending', ${row.userId}, ${row.now},
            ${row.supersedes})
    returning ${columns}
  `)
}

/** Locks the request until the transaction ends, so that it is decided or canceled once. */
export function lockRequest(db: Db, at: { workspaceId: string; id: string }): Promise<SsoRequestRow | undefined> {
  return db.maybe<SsoRequestRow>(sql`
    select ${columns}
      from sso_requests
     where workspace_id = ${at.workspaceId}
       and id = ${at.id}
       for update
  `)
}

export function setCanceled(db: Db, at: { workspaceId: string; id: string }): Promise<SsoRequestRow> {
  return db.one<SsoRequestRow>(sql`
    update sso_requests
       set status = 'cancelled'
     where workspace_id = ${at.workspaceId}
       and id = ${at.id}
       and status = 'pending'
    returning ${columns}
  `)
}

export function setDecided(
  db: Db,
  at: { workspaceId: string; id: string; status: 'approved' | 'declined'; reason: string; userId: string; now: Date },
): Promise<SsoRequestRow> {
  return db.one<SsoRequestRow>(sql`
    update sso_requests
       set status = ${at.status},
           reason = ${at.reason},
           decided_by = ${at.userId},
           decided_at = ${at.now}
     where workspace_id = ${at.workspaceId}
       and id = ${at.id}
       and status = 'pending'
    returning ${columns}
  `)
}

/** A request with the names of its workspace. */
export type AnySsoRequestRow = SsoRequestRow & { readonly slug: string; readonly name: string }

/** Lists the requests of every workspace, for operators. */
export function listRequestsOfAll(
  db: Db,
  at: Page & { status: SsoStatus | null; id: string | null },
): Promise<readonly AnySsoRequestRow[]> {
  return db.many<AnySsoRequestRow>(sql`
    select r.workspace_id, r.id, r.kinds, r.domains, r.note, r.status, r.requested_by, r.requested_at, r.decided_at, r.reason, r.supersedes,
           w.slug, w.name
      from sso_requests r
      join workspaces w on w.id = r.workspace_id
     where (${at.before}::uuid is null or r.id < ${at.before})
       and (${at.id}::uuid is null or r.id = ${at.id})
       and (${at.status}::text is null or r.status = ${at.status})
     order by r.id desc
     limit ${at.limit}
  `)
}
