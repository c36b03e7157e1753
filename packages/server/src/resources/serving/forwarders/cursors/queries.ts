import type { ForwardedSignal, OriginError } from '@postroad/contract'
import type { Position } from '../../../../domain/serving/forwarding/position.ts'
import { sql, type Db } from '../../../../platform/db.ts'
import type { Due } from '../../../../platform/due-board.ts'
import type { ForwarderSettings } from '../queries.ts'

/** The statements of the loop that sends. */

export type ClaimedCursor = Omit<ForwarderSettings, 'signals'> & {
  readonly workspace_id: string
  readonly project_id: string
  /** The id of the forwarder. */
  readonly id: string
  readonly workspace_slug: string
  readonly project_slug: string
  readonly signal: ForwardedSignal
  readonly position: Position
  /** Milliseconds; below 0: nothing was lost. */
  readonly since_ms: number
  readonly fence: number
  readonly failures: number
  readonly proven: boolean
}

/**
 * Claims due signals: raises their fence, so that their previous owner can no longer commit anything. The signals of the
 * workspace with the fewest in `underWay` come first, then the longest due, and no workspace gets more than `ofWorkspaceMax`
 * together with those. It skips signals of suspended and closed workspaces and of deleted projects.
 */
export function claimCursors(
  db: Db,
  at: { owner: string; now: Date; until: Date; limit: number; underWay: readonly string[]; ofWorkspaceMax: number },
): Promise<readonly ClaimedCursor[]> {
  // oxlint-disable-next-line house/tenant-statement -- the forwarders of all workspaces
  return db.many<ClaimedCursor>(sql`
    with waiting as (
           select d.workspace_id, d.project_id, d.forwarder_id, d.signal, d.due_at, w.slug as workspace_slug, p.slug as project_slug,
                  row_number() over (partition by d.workspace_id order by d.due_at)
                  + (select count(*) from unnest(${at.underWay}::uuid[]) u (id) where u.id = d.workspace_id) as place
             from forwarder_cursors d
             join workspaces w on w.id = d.workspace_id and not w.halted
             join projects p on p.workspace_id = d.workspace_id and p.id = d.project_id and p.deleted_at is null
             join forwarders e on e.workspace_id = d.workspace_id and e.project_id = d.project_id and e.id = d.forwarder_id and e.enabled
            where d.due_at <= ${at.now}
              and (d.lease_until is null or d.lease_until <= ${at.now})
         ),
         due as (
           select d.workspace_id, d.project_id, d.forwarder_id, d.signal, o.workspace_slug, o.project_slug
             from waiting o
             join forwarder_cursors d using (workspace_id, project_id, forwarder_id, signal)
            where o.place <= ${at.ofWorkspaceMax}
              and d.due_at <= ${at.now}
              and (d.lease_until is null or d.lease_until <= ${at.now})
            order by o.place, o.due_at
            limit ${at.limit}
              for update of d skip locked
         )
    update forwarder_cursors c
       set fence = c.fence + 1,
           owner = ${at.owner},
           lease_until = ${at.until}
      from due, forwarders f
     where c.workspace_id = due.workspace_id
       and c.project_id = due.project_id
       and c.forwarder_id = due.forwarder_id
       and c.signal = due.signal
       and f.workspace_id = c.workspace_id
       and f.project_id = c.project_id
       and f.id = c.forwarder_id
    returning c.workspace_id, c.project_id, f.id, due.workspace_slug, due.project_slug, c.signal, c.position,
              (case when c.since = '-infinity' then -1 else extract(epoch from c.since) * 1000 end)::float8 as since_ms,
              c.fence, c.failures, c.proven, f.name, f.preset, f.endpoint, f.header_names, f.headers, f.encoding, f.gzip, f.content,
              f.sample_rate, f.always_errors, f.payloads, f.redact_headers, f.redact_fields, f.enabled
  `)
}

export type Claim = {
  readonly workspaceId: string
  readonly projectId: string
  readonly id: string
  readonly signal: ForwardedSignal
  readonly fence: number
}

/**
 * Commits a batch that was accepted. Undefined: the claim is lost. `goes_on`: the workspace was not suspended, and the forwarder
 * was not disabled meanwhile.
 */
export function advanceCursor(
  db: Db,
  run: Claim & {
    position: Position
    sentUntil: Date | null
    sent: number
    refused: number
    refusedText: string | null
    expired: number
    /** Whether a request was accepted: an empty batch needs none. */
    proves: boolean
    now: Date
    leaseUntil: Date
  },
): Promise<{ readonly goes_on: boolean } | undefined> {
  return db.maybe<{ goes_on: boolean }>(sql`
    update forwarder_cursors c
       set position = ${JSON.stringify(run.position)}::json,
           sent_until = coalesce(${run.sentUntil}::timestamptz, sent_until),
           sent = c.sent + ${run.sent},
           refused = c.refused + ${run.refused},
           refused_text = coalesce(${run.refusedText}, refused_text),
           expired = c.expired + ${run.expired},
           lost_at = ${run.refused + run.expired > 0 ? sql`${run.now}` : sql`lost_at`},
           last_success_at = ${run.proves ? sql`${run.now}` : sql`last_success_at`},
           proven = proven or ${run.proves},
           failures = 0,
           failing_since = null,
           last_error = null,
           lease_until = ${run.leaseUntil}
      from workspaces w, projects p, forwarders f
     where c.workspace_id = ${run.workspaceId}
       and c.project_id = ${run.projectId}
       and c.forwarder_id = ${run.id}
       and c.signal = ${run.signal}
       and c.fence = ${run.fence}
       and w.id = c.workspace_id
       and p.workspace_id = c.workspace_id
       and p.id = c.project_id
       and f.workspace_id = c.workspace_id
       and f.project_id = c.project_id
       and f.id = c.forwarder_id
    returning not w.halted and p.deleted_at is null and f.enabled as goes_on
  `)
}

/** Extends the claim before another request. 0: it is lost, or the forwarder must stop. */
export function renewCursor(db: Db, at: Claim & { until: Date }): Promise<number> {
  return db.run(sql`
    update forwarder_cursors c
       set lease_until = ${at.until}
      from workspaces w, forwarders f
     where c.workspace_id = ${at.workspaceId}
       and c.project_id = ${at.projectId}
       and c.forwarder_id = ${at.id}
       and c.signal = ${at.signal}
       and c.fence = ${at.fence}
       and w.id = c.workspace_id
       and not w.halted
       and f.workspace_id = c.workspace_id
       and f.project_id = c.project_id
       and f.id = c.forwarder_id
       and f.enabled
  `)
}

/** Gives a claim back. */
export function releaseCursor(db: Db, at: Claim & { dueAt: Date }): Promise<number> {
  return db.run(sql`
    update forwarder_cursors
       set due_at = ${at.dueAt},
           owner = null,
           lease_until = null
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
       and forwarder_id = ${at.id}
       and signal = ${at.signal}
       and fence = ${at.fence}
  `)
}

/** Ends a run whose batch was not accepted. The position stays. */
export function failCursor(db: Db, run: Claim & { error: OriginError; now: Date; dueAt: Date }): Promise<number> {
  return db.run(sql`
    update forwarder_cursors
       set failures = failures + 1,
           failing_since = coalesce(failing_since, ${run.now}),
           last_error = ${JSON.stringify(run.error)}::json,
           due_at = ${run.dueAt},
           owner = null,
           lease_until = null
     where workspace_id = ${run.workspaceId}
       and project_id = ${run.projectId}
       and forwarder_id = ${run.id}
       and signal = ${run.signal}
       and fence = ${run.fence}
  `)
}

/** When a signal of a forwarder is due. */
// oxlint-disable-next-line house/tenant-statement -- the loop covers every workspace
export const forwardersDue: Due = (now) => sql`
  select
    from forwarder_cursors
   where due_at <= ${now}
     and (lease_until is null or lease_until <= ${now})
`
