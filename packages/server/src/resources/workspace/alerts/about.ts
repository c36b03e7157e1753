import type { About } from '../../about.ts'

export const about = {
  tables: {
    alerts: { exported: 'alerts' },
    alert_events: { leftOut: 'The events that alerts made, which the records of the dataset postroad are.' },
    alert_rules: { exported: 'alert_settings' },
    alert_quiet_hours: { exported: 'alert_settings' },
  },
} as const satisfies About
