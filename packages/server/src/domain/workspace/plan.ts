import { refuse } from '../refusal.ts'

/** The limits of a workspace's plan; null is without limit. The operator sets the numbers in `plans.json`. */
export type PlanLimits = {
  /** Requests per second for one credential, on average; 0: no burst limit. */
  readonly ingest_per_second: number
  /** Requests that one credential may send in one burst. */
  readonly ingest_burst: number
  /** Milliseconds of processor time a second for everything that a workspace starts, and for one ingest credential; 0: no limit. */
  readonly work_ms_per_second: number
  /** The same at once, after a rest. */
  readonly work_burst_ms: number
  readonly events_per_month: number | null
  readonly deliveries_per_month: number | null
  readonly retention_days: number
  /** How long audit rows are retained; null: forever. */
  readonly audit_retention_days: number | null
  readonly members: number | null
  readonly stream_connections: number | null
  /** Requests that one destination may have under way; null: as many as the contract allows. */
  readonly max_in_flight: number | null
  /** Events that workflows and agents may make from one event, over all hops; null is without limit. */
  readonly descendants_per_event: number | null
}

export type Plans = { readonly self_hosted: PlanLimits } & Readonly<Record<string, PlanLimits>>

const DAY_MS = 86_400_000

/** The start of the first day (UTC) whose events a plan retains: its number of whole days, and today. */
export function firstDayRetained({ retention_days }: PlanLimits, now: number): number {
  return (Math.floor(now / DAY_MS) - retention_days) * DAY_MS
}

/** The burst limit where no plan sets one. */
export const BURST_DEFAULT = { ingest_per_second: 500, ingest_burst: 1_000 } as const
/** The work where no plan sets one: an eighth of a core, and half a minute at once. */
export const WORK_DEFAULT = { work_ms_per_second: 125, work_burst_ms: 30_000 } as const
/** The limit where no plan sets one. */
export const DESCENDANTS_DEFAULT = 1_000

/**
 * The limits of a plan by its name. A workspace whose plan the operator removed from the file must not use up a quota,
 * so it gets the limits of `self_hosted` with the default burst and work.
 */
export function limitsOf(plans: Plans, name: string): PlanLimits {
  return (
    (Object.hasOwn(plans, name) ? plans[name] : undefined) ?? {
      ...plans.self_hosted,
      ...BURST_DEFAULT,
      ...WORK_DEFAULT,
    }
  )
}

/** How many requests a destination may have under way: its setting, or the limit of the plan if that is lower. */
export function maxInFlightOf(plans: Plans, { plan, max_in_flight }: { plan: string; max_in_flight: number }): number {
  return Math.min(max_in_flight, limitsOf(plans, plan).max_in_flight ?? max_in_flight)
}

/** Throws 400 for a name that no plan has; `member` is where it was sent. */
export function checkPlan(plans: Plans, name: string, member: string): void {
  if (Object.hasOwn(plans, name)) return
  throw refuse(
    'invalid_request',
    `${member}: this installation has no plan with that name. Use one of ${Object.keys(plans).join(', ')}.`,
  )
}
