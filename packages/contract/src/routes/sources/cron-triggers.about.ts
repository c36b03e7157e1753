import type { About } from '../../about.ts'
import { type cronTriggers, CronTrigger } from './cron-triggers.ts'

export const about = {
  text: 'Triggers that file events on a schedule.',
  refusals: { create: ['name_taken', 'source_limit_reached'], update: ['name_taken'] },
  schemas: { CronTrigger },
} satisfies About<typeof cronTriggers>
