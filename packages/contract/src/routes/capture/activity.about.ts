import type { About } from '../../about.ts'
import type { activity } from './activity.ts'

export const about = {
  text: 'Requests that an endpoint received and refused.',
} satisfies About<typeof activity>
