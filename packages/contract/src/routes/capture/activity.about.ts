import type { About } from '../../about.ts'
import { type activity, ActivityRow } from './activity.ts'

export const about = {
  text: 'Requests that an endpoint received and refused.',
  schemas: { ActivityRow },
} satisfies About<typeof activity>
