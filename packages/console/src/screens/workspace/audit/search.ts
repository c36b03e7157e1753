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

const DAY_MS = 86_400_000

/** The filter of the API: the list includes the day of `to`. */
export function filterOf({ actor, agent, action, target, from, to }: AuditSearch): AuditFilter {
  const given = {
    actor,
    agent,
    action,
    target,
    from: momentOf(from, 0),
    to: momentOf(to, DAY_MS),
  }
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined && value !== ''))
}

/** The start of a day in the zone of the person, this much later; undefined when the text is not a day. */
function momentOf(day: string | undefined, laterMs: number): string | undefined {
  if (day === undefined || !/^\d{4}-\d{2}-\d{2}$/.test(day)) return undefined
  const at = new Date(`${day}T00:00:00`)
  return Number.isNaN(at.getTime()) ? undefined : new Date(at.getTime() + laterMs).toISOString()
}
