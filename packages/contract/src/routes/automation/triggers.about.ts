import type { About } from '../../about.ts'
import type { triggers } from './triggers.ts'

export const about = {
  text: 'Triggers that run an agent on records.',
  refusals: { create: ['name_taken', 'automation_limit_reached'], update: ['name_taken'] },
} satisfies About<typeof triggers>
