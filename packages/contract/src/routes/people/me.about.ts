import type { About } from '../../about.ts'
import type { me } from './me.ts'

export const about = {
  text: 'The user, the role and the workspace of a credential.',
  members: { User: { name: 'Ada' } },
} satisfies About<typeof me>
