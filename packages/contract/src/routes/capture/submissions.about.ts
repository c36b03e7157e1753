import type { About } from '../../about.ts'
import type { submissions } from './submissions.ts'

export const about = {
  text: 'Accepted requests, with their bodies as received and the reason for their routing.',
} satisfies About<typeof submissions>
