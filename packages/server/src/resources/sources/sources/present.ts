import { encodeId } from '@postroad/contract'
import type { Ctx } from '../../../context.ts'
import { shownHeaders } from '../held-headers.ts'
import { shownReplication } from './slot.ts'
import { shownSnapshot } from './snapshot.ts'
import type { SourceRow, StoredSettings } from './queries.ts'

/** Row → public shape, without a secret. */
export function presentSource(ctx: Pick<Ctx, 'clock'>, row: SourceRow) {
  return {
    id: encodeId('source', row.id),
    name: row.name,
    dataset: row.dataset,
    conditions: row.conditions,
    customer: row.customer,
    settings: shown(row.settings),
    enabled: row.enabled,
    disabled_reason: row.disabled_reason,
    disabled_at: row.disabled_at?.toISOString() ?? null,
    state: stateOf(row, ctx.clock.now()),
    position: row.position,
    replication: shownReplication(row, ctx.clock.now()),
    snapshot: shownSnapshot(row),
    next_run_at: row.enabled ? row.due_at.toISOString() : null,
    last_run_at: row.last_run_at?.toISOString() ?? null,
    last_event_at: row.last_event_at?.toISOString() ?? null,
    runs: row.runs,
    events: row.events,
    skipped: row.skipped,
    failures: row.failures,
    failing_since: row.failing_since?.toISOString() ?? null,
    last_error: row.last_error,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  }
}

function shown({ place, ...settings }: StoredSettings) {
  if (settings.kind === 'http_poll' || settings.kind === 'sse')
    return {
      ...settings,
      headers: shownHeaders(Object.fromEntries(Object.keys(settings.headers).map((name) => [name, '']))),
    }
  return { ...settings, connection: place ?? { host: '', port: 0, database: '', user: '' } }
}

function stateOf(row: SourceRow, now: number): 'disabled' | 'waiting' | 'reading' | 'failing' {
  if (!row.enabled) return 'disabled'
  if (row.lease_until !== null && row.lease_until.getTime() > now) return 'reading'
  return row.failing_since === null ? 'waiting' : 'failing'
}
