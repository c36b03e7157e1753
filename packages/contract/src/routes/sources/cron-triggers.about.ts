import type { About } from '../../about.ts'
import { type cronTriggers, CronTrigger } from './cron-triggers.ts'

export const about = {
  text: 'Triggers that file events on a schedule.',
  refusals: { create: ['name_taken', 'source_limit_reached'], update: ['name_taken'] },
  schemas: { CronTrigger },
  bodies: {
    create: { name: 'Morning report', expression: '0 9 * * 1-5', time_zone: 'Europe/Berlin', dataset: 'reports' },
    preview: { expression: '0 9 * * 1-5', time_zone: 'Europe/Berlin' },
    update: { enabled: false },
  },
  members: {
    CronTrigger: {
      name: 'Morning report',
      expression: '0 9 * * 1-5',
      time_zone: 'Europe/Berlin',
      dataset: 'reports',
      data: { kind: 'daily' },
    },
  },
} satisfies About<typeof cronTriggers>
