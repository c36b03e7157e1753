/** The unit that a threshold of an alert type counts. */
export type AlertUnit = 'minutes' | 'deliveries' | 'requests' | 'mebibytes' | 'failures' | 'runs' | 'percent' | 'days'

/** The facts of one type of alerts. */
export type AlertTypeFacts = {
  readonly meaning: string
  /** The type of the event when the cause has ended. */
  readonly resolved: string
  readonly unit: AlertUnit | null
  /** The least value that opens an alert; null: the type has no threshold. For `days`, the most days that are left. */
  readonly threshold: number | null
  /** From this value on the alert is critical; null: never. */
  readonly critical: number | null
  readonly max: number
  /** Without a threshold, the severity of every alert. */
  readonly severity?: 'warning' | 'critical'
}

/** Every type of alerts, in the order of the road of an event. A smaller number of days is worse; all other values grow. */
export const ALERT_TYPES = {
  'signature.failing': {
    meaning: 'Requests to an endpoint failed the signature check within the last 15 minutes.',
    resolved: 'signature.recovered',
    unit: 'requests',
    threshold: 10,
    critical: 1_000,
    max: 1_000_000,
  },
  'source.failing': {
    meaning: 'A source, a cron trigger or a WebSocket trigger fails, or Postroad turned a source off.',
    resolved: 'source.recovered',
    unit: 'failures',
    threshold: 3,
    critical: 20,
    max: 1_000,
  },
  'source.lagging': {
    meaning: 'The replication slot of a source retains this much of the log of its database.',
    resolved: 'source.caught_up',
    unit: 'mebibytes',
    threshold: 1_024,
    critical: 10_240,
    max: 1_000_000,
  },
  'destination.failing': {
    meaning: 'Every attempt at a destination has failed for this long, and at least three did.',
    resolved: 'destination.recovered',
    unit: 'minutes',
    threshold: 5,
    critical: 60,
    max: 10_080,
  },
  'destination.disabled': {
    meaning: 'Postroad turned a destination off, because it answered 410 Gone or failed for days.',
    resolved: 'destination.enabled',
    unit: null,
    threshold: null,
    critical: null,
    max: 0,
    severity: 'critical',
  },
  'delivery.failed': {
    meaning: 'Deliveries to a destination ended as failed, after all of their attempts, within the last hour.',
    resolved: 'delivery.recovered',
    unit: 'deliveries',
    threshold: 1,
    critical: 100,
    max: 1_000_000,
  },
  'backlog.old': {
    meaning: 'A delivery that is due has waited at its destination for this long.',
    resolved: 'backlog.cleared',
    unit: 'minutes',
    threshold: 60,
    critical: 360,
    max: 43_200,
  },
  'workflow.failing': {
    meaning: 'Runs of a workflow failed within the last hour.',
    resolved: 'workflow.recovered',
    unit: 'runs',
    threshold: 1,
    critical: 100,
    max: 1_000_000,
  },
  'quota.near': {
    meaning: 'The workspace has used this share of the events or the deliveries that its plan has for the month.',
    resolved: 'quota.renewed',
    unit: 'percent',
    threshold: 80,
    critical: 100,
    max: 100,
  },
  'key.expiring': {
    meaning: 'An admin API key or a Data API key expires in this many days, or expired within the last week.',
    resolved: 'key.renewed',
    unit: 'days',
    threshold: 14,
    critical: 2,
    max: 365,
  },
  'certificate.expiring': {
    meaning: 'The client certificate of a destination expires in this many days, or has expired.',
    resolved: 'certificate.renewed',
    unit: 'days',
    threshold: 30,
    critical: 7,
    max: 365,
  },
} as const satisfies Readonly<Record<string, AlertTypeFacts>>
export type AlertType = keyof typeof ALERT_TYPES

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the keys of the object above
export const ALERT_TYPE_NAMES = Object.keys(ALERT_TYPES) as readonly AlertType[]

export const alertFacts = (type: AlertType): AlertTypeFacts => ALERT_TYPES[type]

/** The parts of a project that an alert can be about. */
export const ALERT_SUBJECTS = [
  'destination',
  'webhook',
  'ingest_key',
  'source',
  'cron_trigger',
  'ws_trigger',
  'workflow',
  'api_key',
  'data_key',
  'events_quota',
  'deliveries_quota',
] as const
export type AlertSubject = (typeof ALERT_SUBJECTS)[number]

/** The change of an alert, as its events say it. */
export const ALERT_CHANGES = ['opened', 'escalated', 'reminded', 'resolved'] as const
export type AlertChange = (typeof ALERT_CHANGES)[number]

export const ALERT_CHANNELS = ['slack', 'discord', 'teams', 'pagerduty', 'opsgenie', 'email', 'webhook'] as const
export type AlertChannel = (typeof ALERT_CHANNELS)[number]
