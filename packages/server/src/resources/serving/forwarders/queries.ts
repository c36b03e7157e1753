import type { ForwardedContent, ForwardedSignal, ForwarderPreset, OriginError } from '@postroad/contract'
import type { Position } from '../../../domain/serving/forwarding/position.ts'
import { sql, type Db, type Sql } from '../../../platform/db.ts'

type At = { readonly workspaceId: string; readonly projectId: string }

export type ForwarderSettings = {
  readonly name: string
  readonly preset: ForwarderPreset['id']
  readonly endpoint: string
  readonly header_names: readonly string[]
  readonly headers: Buffer | null
  readonly encoding: 'json' | 'protobuf'
  readonly gzip: boolean
  readonly signals: readonly ForwardedSignal[]
  readonly content: readonly ForwardedContent[]
  readonly sample_rate: number
  readonly always_errors: boolean
  readonly payloads: boolean
  readonly redact_headers: readonly string[]
  readonly redact_fields: readonly string[]
  readonly enabled: boolean
}

export type ForwarderRow = ForwarderSettings & {
  readonly id: string
  /** The workspace is suspended or closed. */
  readonly halted: boolean
  readonly created_at: Date
  readonly updated_at: Date
}

const columns: Sql = sql`
  f.id, f.name, f.preset, f.endpoint, f.header_names, f.headers, f.encoding, f.gzip, f.signals, f.content, f.sample_rate, f.always_errors,
  f.payloads, f.redact_headers, f.redact_fields, f.enabled, f.created_at, f.updated_at,
  (select w.halted from workspaces w where w.id = f.workspace_id) as halted
`

export function listForwarders(
  db: Db,
  at: At & { before: string | null; limit: number },
): Promise<readonly ForwarderRow[]> {
  return db.many<ForwarderRow>(sql`
    select ${columns}
      from forwarders f
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
       and (${at.before}::uuid is null or id < ${at.before})
     order by id desc
     limit ${at.limit}
  `)
}

/** `lock` locks the row until the transaction ends. */
export function findForwarder(db: Db, at: At & { id: string; lock?: boolean }): Promise<ForwarderRow | undefined> {
  return db.maybe<ForwarderRow>(sql`
    select ${columns}
      from forwarders f
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
       and id = ${at.id}
     ${at.lock === true ? sql`for update of f` : sql``}
  `)
}

export async function countForwarders(db: Db, at: At): Promise<number> {
  const { n } = await db.one<{ n: number }>(sql`
    select count(*)::int as n
      from forwarders
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
  `)
  return n
}

type Written = At & ForwarderSettings & { readonly id: string; readonly now: Date }

/** Undefined when the name is taken. */
export function insertForwarder(db: Db, row: Written): Promise<ForwarderRow | undefined> {
  return db.maybe<ForwarderRow>(sql`
    insert into forwarders as f (workspace_id, project_id, id, name, preset, endpoint, header_names, headers, encoding, gzip, signals,
                                 content, sample_rate, always_errors, payloads, redact_headers, redact_fields, enabled, created_at,
                                 updated_at)
    values (${row.workspaceId}, ${row.projectId}, ${row.id}, ${row.name}, ${row.preset}, ${row.endpoint}, ${row.header_names}::text[],
            ${row.headers}, ${row.encoding}, ${row.gzip}, ${row.signals}::text[], ${row.content}::text[], ${row.sample_rate},
            ${row.always_errors}, ${row.payloads}, ${row.redact_headers}::text[], ${row.redact_fields}::text[], ${row.enabled},
            ${row.now}, ${row.now})
    on conflict (workspace_id, project_id, name) do nothing
    returning ${columns}
  `)
}

/** Undefined when the name is taken. */
export function updateForwarder(db: Db, row: Written): Promise<ForwarderRow | undefined> {
  return db.maybe<ForwarderRow>(sql`
    update forwarders f
       set name = ${row.name},
           preset = ${row.preset},
           endpoint = ${row.endpoint},
           header_names = ${row.header_names}::text[],
           headers = ${row.headers},
           encoding = ${row.encoding},
           gzip = ${row.gzip},
           signals = ${row.signals}::text[],
           content = ${row.content}::text[],
           sample_rate = ${row.sample_rate},
           always_errors = ${row.always_errors},
           payloads = ${row.payloads},
           redact_headers = ${row.redact_headers}::text[],
           redact_fields = ${row.redact_fields}::text[],
           enabled = ${row.enabled},
           updated_at = ${row.now}
     where workspace_id = ${row.workspaceId}
       and project_id = ${row.projectId}
       and id = ${row.id}
       and not exists (
             select 1
               from forwarders other
              where other.workspace_id = ${row.workspaceId}
                and other.project_id = ${row.projectId}
                and other.name = ${row.name}
                and other.id <> ${row.id}
           )
    returning ${columns}
  `)
}

export function deleteForwarder(db: Db, at: At & { id: string }): Promise<number> {
  return db.run(sql`
    delete from forwarders
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
       and id = ${at.id}
  `)
}

/** The state of one signal. */
export type CursorRow = {
  readonly forwarder_id: string
  readonly signal: ForwardedSignal
  readonly sent_until: Date
  readonly due_at: Date
  readonly sent: number
  readonly expired: number
  readonly refused: number
  readonly refused_text: string | null
  readonly lost_at: Date | null
  readonly last_success_at: Date | null
  readonly failures: number
  readonly failing_since: Date | null
  readonly last_error: OriginError | null
}

export function listCursors(db: Db, at: At & { ids: readonly string[] }): Promise<readonly CursorRow[]> {
  return db.many<CursorRow>(sql`
    select forwarder_id, signal, sent_until, due_at, sent, expired, refused, refused_text, lost_at, last_success_at, failures,
           failing_since, last_error
      from forwarder_cursors
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
       and forwarder_id = any (${at.ids}::uuid[])
     order by signal
  `)
}

/** Adds the positions of signals that have none. */
export async function insertCursors(
  db: Db,
  at: At & { id: string; signals: readonly ForwardedSignal[]; position: Position; now: Date },
): Promise<void> {
  await db.run(sql`
    insert into forwarder_cursors (workspace_id, project_id, forwarder_id, signal, position, sent_until, since, due_at)
    select ${at.workspaceId}::uuid, ${at.projectId}::uuid, ${at.id}::uuid, signal, ${JSON.stringify(at.position)}::json, ${at.now}::timestamptz,
           '-infinity'::timestamptz, ${at.now}::timestamptz
      from unnest(${at.signals}::text[]) as signal
    on conflict do nothing
  `)
}

/**
 * Raises the fences, so that a run under the previous settings commits nothing, and makes every signal due. Removes the positions
 * of signals that are no longer sent.
 */
export async function restartCursors(
  db: Db,
  at: At & { id: string; signals: readonly ForwardedSignal[]; unproven: boolean; now: Date },
): Promise<void> {
  await db.run(sql`
    delete from forwarder_cursors
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
       and forwarder_id = ${at.id}
       and signal <> all (${at.signals}::text[])
  `)
  await db.run(sql`
    update forwarder_cursors
       set fence = fence + 1,
           owner = null,
           lease_until = null,
           due_at = ${at.now},
           failures = 0,
           failing_since = null,
           proven = proven and not ${at.unproven}
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
       and forwarder_id = ${at.id}
  `)
}
