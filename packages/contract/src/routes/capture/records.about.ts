import type { About } from '../../about.ts'
import type { records } from './records.ts'

export const about = {
  text: 'Records, also called events: the payloads as filed.',
} satisfies About<typeof records>
