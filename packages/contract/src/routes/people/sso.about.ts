import type { About } from '../../about.ts'
import type { sso } from './sso.ts'

export const about = {
  text: 'Single sign-on of the workspace.',
} satisfies About<typeof sso>
