import type { About } from '../../about.ts'
import type { rejections } from './rejections.ts'

export const about = {
  text: 'Rejected requests, counted by credential, reason and minute.',
} satisfies About<typeof rejections>
