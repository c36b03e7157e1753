import type { About } from '../../about.ts'
import { AlertRule, QuietHours, type Weekday } from '../../alert-settings.ts'
import { exampleId } from '../../openapi/example-id.ts'
import { type alerts, Alert, AlertEvent, AlertTypeInfo } from './alerts.ts'

const DAYS: Weekday[] = ['mon', 'tue', 'wed', 'thu', 'fri']
const NIGHTS = {
  name: 'Nights',
  days: DAYS,
  from: '22:00',
  to: '07:00',
  time_zone: 'Europe/Berlin',
}

export const about = {
  text: 'What needs attention in a project, and the channels that report it.',
  refusals: {
    mute: ['alert_resolved'],
    unmute: ['alert_resolved'],
    createChannel: ['name_taken', 'invalid_url'],
  },
  schemas: { Alert, AlertEvent, AlertRule, AlertTypeInfo, QuietHours },
  bodies: {
    updateSettings: { rules: [{ type: 'destination.failing', threshold: 10 }], quiet_hours: [NIGHTS] },
    createChannel: { channel: 'slack', url: 'https://hooks.slack.com/services/T000/B000/XXXX' },
    mute: { until: '2026-11-22T07:00:00Z' },
  },
  members: {
    Alert: {
      type: 'destination.failing',
      state: 'open',
      severity: 'warning',
      subject: { kind: 'destination', id: exampleId('destination'), name: 'ERP' },
      customer_id: null,
      value: 12,
      peak: 12,
      text: 'Every attempt at the destination ERP has failed for 12 minutes.',
      resolved_at: null,
      muted: null,
      held: false,
    },
    AlertEvent: { change: 'opened' },
    AlertRule: { type: 'destination.failing', enabled: true, threshold: 5, critical: 60 },
    AlertTypeInfo: {
      type: 'destination.failing',
      meaning: 'Every attempt at a destination has failed for this long, and at least three did.',
      resolved_type: 'destination.recovered',
      unit: 'minutes',
      default_threshold: 5,
      default_critical: 60,
      max: 10_080,
    },
    QuietHours: NIGHTS,
  },
} satisfies About<typeof alerts>
