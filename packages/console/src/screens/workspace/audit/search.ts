import type { Search } from '../../../data/search-text.ts'

export type AuditSearch = Search & {
  readonly actor?: string
  readonly agent?: string
  readonly action?: string
  readonly target?: string
  /** Days, as a date input has them: `2026-01-31`. */
  readonly from?: string
  readonly to?: string
  readonly sel?: string
}

export type AuditFilter = {
  readonly actor?: string
  readonly agent?: string
  readonly action?: string
  readonly target?: string
  readonly from?: string
  readonly to?: string
}

/** The filter of the API: the list includes the day of `to`. */
export function filterOf({ actor, agent, action, target, from, to }: AuditSearch): AuditFilter {
  const given = {
    actor,
    agent,
    action,
    target,
    from: midnightOf(from, 0),
    to: midnightOf(to, 1),
  }
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined && value !== ''))
}

/** The start of the day that is this many days after `day`, in the zone of the person; undefined when the text is not a day. */
function midnightOf(day: string | undefined, later: number): string | undefined {
  if (day === undefined || !/^\d{4}-\d{2}-\d{2}$/.test(day)) return undefined
  const at = new Date(`${day}T00:00:00`)
  if (Number.isNaN(at.getTime())) return undefined
  // A day of a clock change is not 24 hours long.
  at.setDate(at.getDate() + later)
  return at.toISOString()
}
