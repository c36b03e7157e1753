import type { About } from '../../about.ts'
import { type triggers, AiTrigger } from './triggers.ts'

export const about = {
  text: 'Triggers that run an agent on records.',
  refusals: { create: ['name_taken', 'automation_limit_reached'], update: ['name_taken'] },
  schemas: { AiTrigger },
} satisfies About<typeof triggers>
