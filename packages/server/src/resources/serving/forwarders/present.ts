import { encodeId, type ForwardedSignal } from '@postroad/contract'
import type { Ctx } from '../../../context.ts'
import { shownHeaders } from '../../sources/held-headers.ts'
import { listCursors, type CursorRow, type ForwarderRow } from './queries.ts'

type Stopped = 'disabled' | 'workspace_suspended' | null

/** Rows → public shape, without a value of a header. */
export async function presentForwarders(
  ctx: Pick<Ctx, 'db' | 'workspaceId' | 'projectId' | 'clock'>,
  rows: readonly ForwarderRow[],
) {
  const cursors = await listCursors(ctx.db, { ...ctx, ids: rows.map(({ id }) => id) })
  const of = Map.groupBy(cursors, (cursor) => cursor.forwarder_id)
  return rows.map((row) => present(row, { cursors: of.get(row.id) ?? [], now: ctx.clock.now() }))
}

function present(row: ForwarderRow, { cursors, now }: { cursors: readonly CursorRow[]; now: number }) {
  const { header_names, headers: _headers, halted, ...shown } = row
  const stopped: Stopped = !row.enabled ? 'disabled' : halted ? 'workspace_suspended' : null
  const progressOf = (signal: ForwardedSignal) => {
    const cursor = cursors.find((one) => one.signal === signal)
    return cursor === undefined ? null : progress(cursor, { stopped, now })
  }
  return {
    ...shown,
    id: encodeId('forwarder', row.id),
    headers: shownHeaders(Object.fromEntries(header_names.map((name) => [name, '']))),
    signals: [...row.signals],
    content: [...row.content],
    redact_headers: [...row.redact_headers],
    redact_fields: [...row.redact_fields],
    state: stateOf(stopped, cursors),
    stopped_reason: stopped,
    progress: { logs: progressOf('logs'), traces: progressOf('traces') },
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  }
}

/** The part that a person sets, for the audit log: headers by their names. */
export function settingsOf({ id: _id, headers: _headers, halted: _halted, ...settings }: ForwarderRow): object {
  return settings
}

function stateOf(stopped: Stopped, cursors: readonly CursorRow[]): 'active' | 'failing' | 'stopped' {
  if (stopped !== null) return 'stopped'
  return cursors.some(({ failing_since }) => failing_since !== null) ? 'failing' : 'active'
}

const iso = (date: Date | null): string | null => date?.toISOString() ?? null

function progress(cursor: CursorRow, { stopped, now }: { stopped: Stopped; now: number }) {
  return {
    state: stateOf(stopped, [cursor]),
    sent_until: cursor.sent_until.toISOString(),
    lag_seconds: Math.max(0, Math.floor((now - cursor.sent_until.getTime()) / 1_000)),
    sent: cursor.sent,
    last_success_at: iso(cursor.last_success_at),
    last_error: cursor.last_error,
    failures: cursor.failures,
    failing_since: iso(cursor.failing_since),
    next_try_at: stopped === null ? cursor.due_at.toISOString() : null,
    expired: cursor.expired,
    refused: cursor.refused,
    refused_text: cursor.refused_text,
    lost_at: iso(cursor.lost_at),
  }
}
