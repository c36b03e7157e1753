import type { About } from '../../about.ts'
import type { sources } from './sources.ts'

export const about = {
  text: 'Systems that send no webhooks, which Postroad reads.',
  refusals: { create: ['name_taken', 'source_limit_reached'], update: ['name_taken'] },
} satisfies About<typeof sources>
