import type { About } from '../../about.ts'
import type { broadcasts } from './broadcasts.ts'

export const about = {
  text: 'Announcements of the operators to this workspace.',
} satisfies About<typeof broadcasts>
