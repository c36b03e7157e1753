import type { About } from '../../about.ts'
import { type wsTriggers, WsTrigger } from './ws-triggers.ts'

export const about = {
  text: 'Triggers that listen to WebSockets.',
  refusals: { create: ['name_taken', 'source_limit_reached'], update: ['name_taken'] },
  schemas: { WsTrigger },
} satisfies About<typeof wsTriggers>
