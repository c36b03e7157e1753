import { REASONS, type Reason } from '@postroad/contract'

/** Counters of the hot path: plain numbers, one per reason, so that no request creates a time series. */
export type Counters = {
  accepted: number
  duplicates: number
  /** Deliveries that were stored to wait for the allowance of their plan. */
  beyondAllowance: number
  readonly rejected: Map<Reason, number>
  reject(reason: Reason): void
}

export function createCounters(): Counters {
  const rejected = new Map<Reason, number>()
  return {
    accepted: 0,
    duplicates: 0,
    beyondAllowance: 0,
    rejected,
    reject: (reason) => rejected.set(reason, (rejected.get(reason) ?? 0) + 1),
  }
}

export type Gauge = { readonly name: string; readonly help: string; readonly value: number }

/** Prometheus text: the counters, then the gauges measured for this response. */
export function metricsText(counters: Counters, gauges: readonly Gauge[]): string {
  const lines = [
    '# HELP postroad_ingest_accepted_total Requests answered with 201 since the start.',
    '# TYPE postroad_ingest_accepted_total counter',
    `postroad_ingest_accepted_total ${counters.accepted}`,
    '# HELP postroad_ingest_duplicates_total Repeats answered with 200 since the start.',
    '# TYPE postroad_ingest_duplicates_total counter',
    `postroad_ingest_duplicates_total ${counters.duplicates}`,
    '# HELP postroad_deliveries_beyond_allowance_total Deliveries stored since the start that wait for the allowance of their plan.',
    '# TYPE postroad_deliveries_beyond_allowance_total counter',
    `postroad_deliveries_beyond_allowance_total ${counters.beyondAllowance}`,
    '# HELP postroad_ingest_rejected_total Requests refused since the start, by reason.',
    '# TYPE postroad_ingest_rejected_total counter',
  ]
  for (const [reason, count] of counters.rejected) {
    lines.push(`postroad_ingest_rejected_total{reason="${reason}",status="${REASONS[reason].status}"} ${count}`)
  }
  for (const gauge of gauges) {
    lines.push(`# HELP ${gauge.name} ${gauge.help}`, `# TYPE ${gauge.name} gauge`, `${gauge.name} ${gauge.value}`)
  }
  return `${lines.join('\n')}\n`
}
