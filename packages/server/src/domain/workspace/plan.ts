/** What a workspace's plan allows; null is without limit. The numbers stand in `plans.json`, which the operator sets. */
export type PlanLimits = {
  /** Requests a second for one credential, on average; 0: no burst limit. */
  readonly ingest_per_second: number
  /** Requests that one credential may send at once. */
  readonly ingest_burst: number
  readonly events_per_month: number | null
  readonly deliveries_per_month: number | null
  readonly retention_days: number
  /** How long audit rows are kept; null: for ever. */
  readonly audit_retention_days: number | null
  readonly members: number | null
  readonly stream_connections: number | null
}

export type Plans = { readonly self_hosted: PlanLimits } & Readonly<Record<string, PlanLimits>>

const DAY_MS = 86_400_000

/** The begin of the first day (UTC) of which a plan keeps events: as many whole days as it says, and today. */
export function firstDayKept({ retention_days }: PlanLimits, now: number): number {
  return (Math.floor(now / DAY_MS) - retention_days) * DAY_MS
}

/** The limits of a plan by its name. A plan that the operator took out of the file must not refuse events: it limits nothing. */
export function limitsOf(plans: Plans, name: string): PlanLimits {
  return (Object.hasOwn(plans, name) ? plans[name] : undefined) ?? plans.self_hosted
}
