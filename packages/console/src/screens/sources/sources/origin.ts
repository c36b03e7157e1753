import type { Light } from '@postroad/contract/lights'
import type { Origin } from '../../../data/source-lists.ts'

/** The kinds of origins, as a person chooses them. */
export const KINDS = [
  { id: 'postgres', label: 'PostgreSQL', text: 'New and changed rows of a query, found by a cursor column.' },
  {
    id: 'postgres_replication',
    label: 'PostgreSQL changes',
    text: 'Each insert, update and delete, through logical replication.',
  },
  { id: 'mysql', label: 'MySQL', text: 'New and changed rows of a query, found by a cursor column.' },
  { id: 'http_poll', label: 'HTTP poll', text: 'Items from a JSON API, polled at intervals.' },
  { id: 'sse', label: 'Server-sent events', text: 'A persistent HTTP stream.' },
  { id: 'cron', label: 'Schedule', text: 'One event each time a cron expression matches.' },
  { id: 'ws', label: 'WebSocket', text: 'One event for each message from a WebSocket server.' },
] as const
export type KindId = (typeof KINDS)[number]['id']

export function kindOf(origin: Origin): KindId {
  return origin.of === 'source' ? origin.row.settings.kind : origin.of
}

export function kindLabel(kind: KindId): string {
  return KINDS.find(({ id }) => id === kind)?.label ?? kind
}

/** Where it reads: the parts of the address that are not secret, or the expression of a schedule. */
export function placeOf({ of, row }: Origin): string {
  if (of === 'cron') return `${row.expression} · ${row.time_zone}`
  if (of === 'ws') return row.url
  const { settings } = row
  if (settings.kind === 'http_poll' || settings.kind === 'sse') return settings.url
  const { host, port, database, user } = settings.connection
  return `${user}@${host}:${port}/${database}`
}

const OFF: Light = { tone: 'paused', word: 'off', text: 'Turned off by a member.' }

export function originLight({ of, row }: Origin): Light {
  if (of === 'source') return sourceLight(row)
  if (!row.enabled) return OFF
  if (row.last_error !== null && of === 'cron')
    return { tone: 'fail', word: 'last run failed', text: row.last_error.error }
  if (of === 'cron') return { tone: 'ok', word: 'on', text: 'Waiting for the next scheduled time.' }
  if (row.state === 'connected') return { tone: 'ok', word: 'connected', text: 'Messages arrive as they are sent.' }
  return row.failures > 0
    ? { tone: 'retry', word: 'not connected', text: row.last_error?.error ?? 'Postroad is reconnecting.' }
    : { tone: 'sending', word: 'connecting', text: 'Connecting.' }
}

function sourceLight({ state, disabled_reason, last_error }: Extract<Origin, { of: 'source' }>['row']): Light {
  if (state === 'disabled')
    return disabled_reason === 'failing'
      ? {
          tone: 'fail',
          word: 'off: failing',
          text: 'Postroad could not read the source for 24 hours and turned it off.',
        }
      : OFF
  if (state === 'failing')
    return { tone: 'retry', word: 'failing', text: last_error?.error ?? 'The last run failed. Postroad retries.' }
  return state === 'reading'
    ? { tone: 'sending', word: 'reading', text: 'A process is reading the source.' }
    : { tone: 'ok', word: 'on', text: 'Waiting for the next run.' }
}

/** The next moment at which it reads or connects; null: none, because it is off or connected. */
export function nextAt({ of, row }: Origin): string | null {
  return of === 'ws' ? row.next_connect_at : row.next_run_at
}

/** The last moment at which it made an event. */
export function lastAt({ of, row }: Origin): string | null {
  if (of === 'cron') return row.last_run?.fired_at ?? null
  return of === 'ws' ? row.last_message_at : row.last_event_at
}

/** How many events it has stored. */
export function eventsOf({ of, row }: Origin): number {
  if (of === 'cron') return row.runs
  return of === 'ws' ? row.filed : row.events
}
